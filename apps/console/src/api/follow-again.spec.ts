import { followAgain } from './follow-again';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const after = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

it('opens a stream that is refused again less and less often, twice a minute at last, until it is left', async () => {
  let opened = 0;
  const leave = followAgain(2_000, async () => {
    opened++;
    throw new Error('403');
  });
  await after(2_000 + 4_000 + 8_000);
  expect(opened).toBe(4);
  await after(3_600_000);
  expect(opened).toBeGreaterThan(120);
  expect(opened).toBeLessThan(130);
  leave();
  const before = opened;
  await after(3_600_000);
  expect(opened).toBe(before);
});

it('opens a stream soon again that was open, and not one that is over', async () => {
  const outcomes = ['failed', 'failed', 'ended', 'broken', 'over'];
  let opened = 0;
  followAgain(2_000, async ({ onOpen }) => {
    const outcome = outcomes[opened++]!;
    if (outcome === 'failed') throw new Error('503');
    onOpen();
    if (outcome === 'broken') throw new Error('cut');
    return outcome === 'over' ? 'over' : 'ended';
  });
  await after(2_000 + 4_000);
  expect(opened).toBe(3);
  await after(2_000);
  expect(opened).toBe(4);
  await after(2_000);
  expect(opened).toBe(5);
  await after(3_600_000);
  expect(opened).toBe(5);
});
