import { z } from 'zod';

/** The wire shape of a 207 response: one result for each item, in the order of the request. */
export const batchResult = <Value extends z.ZodType>(value: Value) =>
  z.object({
    results: z.array(
      z.object({
        value: value.nullable(),
        isSuccess: z.boolean(),
        error: z.object({ status: z.int(), detail: z.string() }).nullable(),
      }),
    ),
    successCount: z.int(),
    failureCount: z.int(),
  });

export interface BatchItemResult<Value> {
  value: Value | null;
  isSuccess: boolean;
  error: { status: number; detail: string } | null;
}

export interface BatchResult<Value> {
  results: BatchItemResult<Value>[];
  successCount: number;
  failureCount: number;
}

/** Items of a batch request: at least one, at most this many. */
export const BATCH_ITEMS_MAX = 500;

/** The wire shape of a batch request. */
export const batchOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item).min(1).max(BATCH_ITEMS_MAX) });
