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

/** Runs a transaction; where it fails, what was done beside it is undone. @throws what it throws */
export async function undoingOnRollback<Result>(transaction: () => Promise<Result>): Promise<Result> {
  const beside: BesideTransaction = { undos: [], actions: [] };
  let result: Result;
  try {
    result = await storage.run(beside, transaction);
  } catch (error) {
    for (const undo of beside.undos) undo();
    throw error;
  }
  for (const action of beside.actions) action();
  return result;
}
