import type { ApiResponse } from './response';
import type { ListInput } from './input';

interface Page<Item> {
  items: Item[];
  nextCursor?: string | null | undefined;
}

/**
 * Reads a list to its end by cursor, page by page, also while it changes.
 *
 *     for await (const job of everyItem(exchange.listExportJobs, { list: { pageSize: 100 } })) …
 */
export async function* everyItem<Item, Input extends { list?: ListInput }>(
  list: (input: Input) => Promise<ApiResponse<Page<Item>>>,
  input: Input = {} as Input,
): AsyncGenerator<Item> {
  const { page: _page, ...parameters } = input.list ?? {};
  let cursor: string | null | undefined = '';
  while (cursor !== null && cursor !== undefined) {
    const { body }: ApiResponse<Page<Item>> = await list({ ...input, list: { ...parameters, cursor } });
    yield* body.items;
    cursor = body.nextCursor;
  }
}
