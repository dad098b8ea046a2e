import { isOverTime } from './meter';

describe('the time of a template', () => {
  it.each([
    ['ends it by what it used of the processor', { cpu: 501, wall: 501, isOver: true }],
    ['does not end it where it hardly had the processor', { cpu: 150, wall: 60_000, isOver: false }],
    [
      'does not end it where others had the processor for most of it',
      { cpu: 200, wall: 2_500, isOver: false },
    ],
    ['ends it where its caller has waited for long', { cpu: 200, wall: 3_001, isOver: true }],
  ])('%s', (_what, { cpu, wall, isOver }) => {
    expect(isOverTime(500, cpu, wall)).toBe(isOver);
  });
});
