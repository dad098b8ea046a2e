import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<(() => void)[]>();

/**
 * Has something that was done beside the database undone where the transaction that runs now fails, also where it is
 * repeated then. Outside of a transaction it stays done.
 */
export const onRollback = (undo: () => void): void => void storage.getStore()?.push(undo);

/** Runs a transaction; where it fails, what was done beside it is undone. @throws what it throws */
export async function undoingOnRollback<Result>(transaction: () => Promise<Result>): Promise<Result> {
  const undos: (() => void)[] = [];
  try {
    return await storage.run(undos, transaction);
  } catch (error) {
    for (const undo of undos) undo();
    throw error;
  }
}
