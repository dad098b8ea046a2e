import type { BatchItemResult, BatchResult } from '@plinth/kernel/batch-result';
import { Problem } from '@plinth/kernel/problem';
import { problemOfDatabase } from '@plinth/runtime/postgres/postgres';
import { batchError } from './problem-details';

/**
 * Applies each item separately, in order, and returns a result for each. An error that is not a problem of the item
 * (a bug, an unavailable database) fails the whole request.
 */
export async function batchResultOf<Item, Value>(
  items: readonly Item[],
  apply: (item: Item, index: number) => Promise<Value>,
): Promise<BatchResult<Value>> {
  const results: BatchItemResult<Value>[] = [];
  for (const [index, item] of items.entries()) results.push(await resultOf(() => apply(item, index)));
  const successCount = results.filter(({ isSuccess }) => isSuccess).length;
  return { results, successCount, failureCount: results.length - successCount };
}

async function resultOf<Value>(apply: () => Promise<Value>): Promise<BatchItemResult<Value>> {
  try {
    return { value: await apply(), isSuccess: true, error: null };
  } catch (error) {
    const problem = error instanceof Problem ? error : problemOfDatabase(error);
    if (!problem) throw error;
    return { value: null, isSuccess: false, error: batchError(problem) };
  }
}
