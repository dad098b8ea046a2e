import { onCommit, onRollback, undoingOnRollback } from './beside-transaction';

describe('what is done beside a transaction', () => {
  const done: string[] = [];
  beforeEach(() => void done.splice(0));
  const work = async () => {
    onCommit(() => void done.push('after it'));
    onRollback(() => void done.push('undone'));
    done.push('work');
    await Promise.resolve();
  };

  it('is done once it is committed', async () => {
    await undoingOnRollback(work);

    expect(done).toEqual(['work', 'after it']);
  });

  it('is undone where it fails, and what was to follow is not done', async () => {
    const failing = undoingOnRollback(async () => {
      await work();
      throw new Error('a conflict');
    });
    await expect(failing).rejects.toThrow('a conflict');

    expect(done).toEqual(['work', 'undone']);
  });

  it('is done at once outside of one', async () => {
    await work();

    expect(done).toEqual(['after it', 'work']);
  });
});
