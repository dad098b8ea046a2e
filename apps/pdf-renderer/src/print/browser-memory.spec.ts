import { limitMemory } from './browser-memory';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('the memory of a browser', () => {
  it('is watched only while it prints, so that a process rests that has nothing to print', () => {
    const watch = limitMemory(null, 100, () => undefined);
    expect(jest.getTimerCount()).toBe(0);
    watch.begin();
    watch.begin();
    expect(jest.getTimerCount()).toBe(1);
    watch.end();
    expect(jest.getTimerCount()).toBe(0);
  });
});
