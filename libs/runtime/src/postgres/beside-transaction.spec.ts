import { BesideOpenTransaction, onCommit, onRollback, undoingOnRollback } from './beside-transaction';

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

  it('waits for the end of a transaction that stays open', async () => {
    const open = new BesideOpenTransaction();
    await open.run(work);
    await open.run(work);
    expect(done).toEqual(['work', 'work']);

    open.committed();
    expect(done).toEqual(['work', 'work', 'after it', 'after it']);
  });

  it('is undone once nothing of it runs any more, the last first', async () => {
    const open = new BesideOpenTransaction();
    const statement = Promise.withResolvers<void>();
    const running = open.run(async () => {
      onRollback(() => void done.push('the first undone'));
      await statement.promise;
      onRollback(() => void done.push('the second undone'));
    });
    const rolledBack = open.rolledBack();
    expect(done).toEqual([]);
    statement.resolve();
    await Promise.all([running, rolledBack]);

    expect(done).toEqual(['the second undone', 'the first undone']);
  });
});
