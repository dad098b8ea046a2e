import { AsyncLocalStorage } from 'node:async_hooks';

interface BesideTransaction {
  undos: (() => void)[];
  actions: (() => void)[];
}

const storage = new AsyncLocalStorage<BesideTransaction>();

/**
 * Has something that was done beside the database undone where the transaction that runs now fails, also where it is
 * repeated then. Outside of a transaction it stays done.
 */
export const onRollback = (undo: () => void): void => void storage.getStore()?.undos.push(undo);

/** Does something beside the database once the transaction that runs now is committed; outside of one, at once. */
export function onCommit(action: () => void): void {
  const beside = storage.getStore();
  if (beside) beside.actions.push(action);
  else action();
}

/** Runs a transaction; where it fails, what was done beside it is undone, the last first. @throws what it throws */
export async function undoingOnRollback<Result>(transaction: () => Promise<Result>): Promise<Result> {
  const beside = new BesideOpenTransaction();
  let result: Result;
  try {
    result = await beside.run(transaction);
  } catch (error) {
    await beside.rolledBack();
    throw error;
  }
  beside.committed();
  return result;
}

/** What is done beside a transaction that stays open from one call to the next, and whose end is another call. */
export class BesideOpenTransaction {
  private readonly beside: BesideTransaction = { undos: [], actions: [] };
  private readonly running = new Set<Promise<unknown>>();

  /** Does something beside this transaction at once, also while another one runs. @throws what it throws */
  do<Result>(action: () => Result): Result {
    return storage.run(this.beside, action);
  }

  /** Runs a part of the transaction. @throws what it throws */
  async run<Result>(part: () => Promise<Result>): Promise<Result> {
    const running = this.do(part);
    this.running.add(running);
    try {
      return await running;
    } finally {
      this.running.delete(running);
    }
  }

  committed(): void {
    for (const action of this.beside.actions) action();
  }

  /** Undoes what was done, the last first, once the parts have ended that still run: they may do more. */
  async rolledBack(): Promise<void> {
    if (this.running.size > 0) await Promise.allSettled(this.running);
    for (const undo of this.beside.undos.toReversed()) undo();
  }
}
