import type { CursorKey } from '@plinth/http/cursor';
import type { ListRequest } from '@plinth/http/paging';
import type { ApiKeyRow } from '../store/api-key-store';

/** An API key without what would let anybody use it. */
export const toApiKey = ({ tenantId: _tenantId, keyHash: _keyHash, ...shown }: ApiKeyRow) => shown;

/** Where a key stands in the order of the list. */
export const cursorKeyOf =
  ({ sort }: Pick<ListRequest, 'sort'>) =>
  (row: ApiKeyRow): CursorKey => [
    ...sort.map(({ field }) => {
      const value = row[field as 'name' | 'createdAt' | 'expiresAt'];
      return value instanceof Date ? value.toISOString() : value;
    }),
    row.id,
  ];
