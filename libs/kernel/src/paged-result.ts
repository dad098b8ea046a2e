import { z } from 'zod';

/** The wire shape of a list response, in offset and in cursor mode. */
export const pagedResult = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    totalCount: z.int().nullable(),
    hasMore: z.boolean(),
    nextCursor: z.string().nullable().optional(),
  });

export interface PagedResult<Item> {
  items: Item[];
  totalCount: number | null;
  hasMore: boolean;
  nextCursor?: string | null | undefined;
}
