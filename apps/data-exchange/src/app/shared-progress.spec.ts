import { SharedProgress } from './shared-progress';
import type { Progress } from './watch-progress';

const progress = { status: 'Executing', isFinal: false } as Progress;

describe('the progress of a job', () => {
  it('is read once for all of its streams, and again after an error', async () => {
    const shared = new SharedProgress();
    let reads = 0;
    const read = async (): Promise<Progress> => {
      reads++;
      if (reads === 1) throw new Error('no connection');
      return progress;
    };
    await expect(shared.read('a', read)).rejects.toThrow('no connection');
    const all = await Promise.all(Array.from({ length: 100 }, () => shared.read('a', read)));
    expect(all).toHaveLength(100);
    expect(reads).toBe(2);
    await shared.read('b', read);
    expect(reads).toBe(3);
  });
});
