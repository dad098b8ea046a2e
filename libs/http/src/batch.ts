import type { BatchItemResult, BatchResult } from '@plinth/kernel/batch-result';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { Problem } from '@plinth/kernel/problem';
import { problemOfRequest } from '@plinth/runtime/postgres/postgres';
import { currentWork } from '@plinth/runtime/process/current-work';
import type { FairPlaces } from '@plinth/runtime/process/fair-places';
import { batchError } from './problem-details';

/**
 * Items that batches write at the same time in a process; a tenant has half of them. A batch is worth hundreds of
 * requests, and dozens of them would take every connection to the database that a tenant may have.
 */
export const BATCH_ITEMS = 4;

/** Where the items of batches take turns, and whose batch it is. */
export interface BatchTurns<Item> {
  placesFor: (item: Item) => FairPlaces;
  owner: ShareOwner;
}

/**
 * Applies each item separately, in order, and returns a result for each. An error that is not a problem of the item
 * (a bug, an unavailable database) fails the whole request. No further item is applied once the request is given up.
 * @param turns where each item waits for its turn
 * @throws Problem `timed-out` where the request is given up
 */
export async function batchResultOf<Item, Value>(
  items: readonly Item[],
  apply: (item: Item, index: number) => Promise<Value>,
  turns?: BatchTurns<Item>,
): Promise<BatchResult<Value>> {
  const results: BatchItemResult<Value>[] = [];
  for (const [index, item] of items.entries())
    results.push(await inTurn(turns, item, () => resultOf(() => apply(item, index))));
  const successCount = results.filter(({ isSuccess }) => isSuccess).length;
  return { results, successCount, failureCount: results.length - successCount };
}

async function inTurn<Item, Result>(
  turns: BatchTurns<Item> | undefined,
  item: Item,
  work: () => Promise<Result>,
): Promise<Result> {
  const { signal } = currentWork();
  const isGivenUp = () => signal?.aborted === true;
  try {
    signal?.throwIfAborted();
    return await (turns ? turns.placesFor(item).run(turns.owner, work, signal) : work());
  } catch (error) {
    if (!isGivenUp()) throw error;
    throw new Problem('timed-out', 'The client disconnected in the middle of the batch.', { cause: error });
  }
}

async function resultOf<Value>(apply: () => Promise<Value>): Promise<BatchItemResult<Value>> {
  try {
    return { value: await apply(), isSuccess: true, error: null };
  } catch (error) {
    const problem = error instanceof Problem ? error : problemOfRequest(error);
    if (!problem) throw error;
    return { value: null, isSuccess: false, error: batchError(problem) };
  }
}
