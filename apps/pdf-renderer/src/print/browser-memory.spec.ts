import { limitMemory, ProcessTree } from './browser-memory';

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

describe('the processes of a browser', () => {
  it('are found among all of the machine, of which each is asked once for its parent', () => {
    const parents: Record<number, number> = { 7: 7, 8: 7, 9: 8, 10: 9, 20: 20 };
    const asked: number[] = [];
    const tree = new ProcessTree(
      () => Object.keys(parents).map(Number),
      (pid) => {
        asked.push(pid);
        return parents[pid]!;
      },
    );
    expect(tree.below(8)).toEqual([8, 9, 10]);
    // Its child is given to another parent.
    delete parents[9];
    Object.assign(parents, { 10: 8, 21: 8, 22: 20 });

    expect(tree.below(8)).toEqual([8, 10, 21]);
    expect(asked).toEqual([7, 8, 9, 10, 20, 10, 21, 22]);
  });

  it('are none that has the number of a former one, after a while without a look', () => {
    const parents: Record<number, number> = { 7: 7, 8: 7, 9: 8 };
    const tree = new ProcessTree(
      () => Object.keys(parents).map(Number),
      (pid) => parents[pid]!,
    );
    expect(tree.below(8)).toEqual([8, 9]);
    parents[9] = 7;
    jest.advanceTimersByTime(1_001);

    expect(tree.below(8)).toEqual([8]);
  });
});
