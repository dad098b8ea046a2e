import { SECRET } from '@plinth/exchange/row-error';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import { rawStatements } from '@plinth/runtime/postgres/raw-statements';
import type { PoolClient } from 'pg';
import type { SecretBox } from './secret-box';
import { keyOfDefinition } from './setting-changes';

/** What became of the values of a setting, those that an undo may bring back included. */
export interface Sealing {
  name: string;
  /** How many were sealed. */
  values: number;
  /** How many were left that may be sealed with a key that is not known here. */
  unknown: number;
}

/** Each has up to 65,536 characters. */
const VALUES_TOGETHER = 100;

/** A setting of which values are to be sealed. */
export interface Unsealed {
  name: string;
  /** Some may be sealed already; none is where the setting becomes secret only now. */
  mayBeSealed: boolean;
}

/**
 * Seals the values of settings in all tenants, and masks them in the histories, in the running transaction. Changes of these
 * settings wait until it ends, and then find them secret. All are found in one pass, since no index begins with a name.
 */
export async function sealValues(
  connection: PoolClient,
  box: SecretBox,
  unsealed: readonly Unsealed[],
): Promise<Sealing[]> {
  const names = unsealed.map(({ name }) => name).toSorted();
  await lockAll(connection, names.map(keyOfDefinition));
  const mayBeSealed = new Set(unsealed.flatMap((one) => (one.mayBeSealed ? [one.name] : [])));
  const sealings = new Map<string, Sealing>(names.map((name) => [name, { name, values: 0, unknown: 0 }]));
  await connection.query(`SELECT set_config('plinth.scope', 'platform', true)`);
  for (const { read, write } of PLACES_OF_VALUES) {
    // The cursor reads what stands there now, and not what is written meanwhile.
    await connection.query({ text: `DECLARE unsealed NO SCROLL CURSOR FOR ${read}`, values: [names] });
    for (;;) {
      const { rows } = await connection.query<{ place: object; name: string; value: string }>(
        `FETCH ${VALUES_TOGETHER} FROM unsealed`,
      );
      if (rows.length === 0) break;
      const plain = rows.filter(({ value }) => box.open(value) === undefined);
      const isUnknown = ({ name, value }: (typeof rows)[number]) =>
        mayBeSealed.has(name) && box.hasSealedForm(value);
      const open = plain.filter((row) => !isUnknown(row));
      const sealed = open.map(({ place, value }) => ({ ...place, value: box.seal(value) }));
      await connection.query(write, [JSON.stringify(sealed)]);
      for (const { name } of open) sealings.get(name)!.values += 1;
      for (const { name } of plain.filter(isUnknown)) sealings.get(name)!.unknown += 1;
    }
    await connection.query('CLOSE unsealed');
  }
  await connection.query(
    `UPDATE setting_change SET previous_value = CASE WHEN previous_value IS NOT NULL THEN '${SECRET}' END,
       new_value = CASE WHEN new_value IS NOT NULL THEN '${SECRET}' END
     WHERE name = ANY($1) AND (previous_value <> '${SECRET}' OR new_value <> '${SECRET}')`,
    [names],
  );
  await connection.query(
    `UPDATE setting_definition SET is_secret = true, is_sealed = true, becomes_secret = false
     WHERE tenant_id = '${HOST_TENANT_ID}' AND name = ANY($1)`,
    [names],
  );
  await connection.query(`SELECT set_config('plinth.scope', '', true)`);
  return [...sealings.values()];
}

/**
 * Locks all these keys, and holds none while it waits for one: an import of all rows or none takes them in the order of its
 * file, and one of the two would have to be given up.
 */
async function lockAll(connection: PoolClient, keys: readonly string[]): Promise<void> {
  let awaited = keys[0];
  while (awaited !== undefined) {
    await connection.query('SAVEPOINT before_locks');
    await lockUntilCommit(rawStatements(connection), awaited);
    const { rows } = await connection.query<{ key: string }>(
      `SELECT key FROM unnest($1::text[]) AS key
       WHERE NOT pg_try_advisory_xact_lock(hashtextextended(key, 0)) LIMIT 1`,
      [keys],
    );
    awaited = rows[0]?.key;
    if (awaited !== undefined) await connection.query('ROLLBACK TO SAVEPOINT before_locks');
    await connection.query('RELEASE SAVEPOINT before_locks');
  }
}

/** Where values are: at their levels, and as they were before an import that can still be undone. */
const PLACES_OF_VALUES = [
  {
    read: `SELECT jsonb_build_object('tenant_id', tenant_id, 'scope', scope, 'user_id', user_id, 'name', name) AS place,
        name, value FROM setting_value WHERE name = ANY($1)`,
    write: `UPDATE setting_value AS t SET value = sealed.value
      FROM jsonb_to_recordset($1::jsonb) AS sealed (tenant_id uuid, scope text, user_id text, name text, value text)
      WHERE t.tenant_id = sealed.tenant_id AND t.scope = sealed.scope AND t.user_id = sealed.user_id
        AND t.name = sealed.name`,
  },
  {
    read: `SELECT jsonb_build_object('tenant_id', tenant_id, 'row_id', row_id, 'job_id', job_id) AS place,
        former ->> 'name' AS name, former ->> 'value' AS value FROM exchange_former WHERE former ->> 'name' = ANY($1)`,
    write: `UPDATE exchange_former AS t SET former = t.former || jsonb_build_object('value', sealed.value)
      FROM jsonb_to_recordset($1::jsonb) AS sealed (tenant_id uuid, row_id uuid, job_id uuid, value text)
      WHERE t.tenant_id = sealed.tenant_id AND t.row_id = sealed.row_id AND t.job_id = sealed.job_id`,
  },
];
