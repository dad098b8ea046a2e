import { lookUp } from '@plinth/exchange/look-up';
import { bytesOfColumns, longTextBytes, SHORT_TEXT_BYTES_MAX } from '@plinth/http/long-texts';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import type { Override, OverrideKey } from '../domain/texts';

/** What counts of a text: its names, which are in indexes too, and its value. */
export const BYTES_COLUMNS = ['resource_name', 'key', 'value'] as const;

export const longOverrideBytes = ({ resourceName, key, value }: Override): number =>
  longTextBytes(value, resourceName, key);

const STORED = lookUp({
  table: 'override',
  columns: ['resource_name', 'culture_name', 'key'],
  values: ['item.resource_name', 'item.culture_name', 'item.key'],
  select: `${bytesOfColumns(...BYTES_COLUMNS.map((column) => `t.${column}`))} AS bytes`,
});

/** No text is read for it: what Postgres stores beside a row has its length in the row. */
const BYTES_OF_LONG = `
  SELECT item.place::int AS place, stored.bytes
  FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS item (resource_name, culture_name, key, place)
  CROSS JOIN ${STORED} AS stored
  WHERE stored.bytes > ${SHORT_TEXT_BYTES_MAX}`;

/** The bytes that each of these texts has as it is stored, as far as it is long. The transaction reads by indexes. */
export async function storedLongBytes<Key extends OverrideKey>(
  tx: RawStatements,
  tenantId: string,
  keys: readonly Key[],
): Promise<ReadonlyMap<Key, number>> {
  if (keys.length === 0) return new Map();
  const found = await tx.$queryRawUnsafe<{ place: number; bytes: number }[]>(
    BYTES_OF_LONG,
    tenantId,
    keys.map(({ resourceName }) => resourceName),
    keys.map(({ cultureName }) => cultureName),
    keys.map(({ key }) => key),
  );
  return new Map(found.map(({ place, bytes }) => [keys[place - 1]!, bytes]));
}
