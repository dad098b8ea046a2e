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

/**
 * Seals the values of a setting in all tenants, and masks them in its histories, in the running transaction. Changes of the
 * setting wait until it ends, and then find it secret.
 * @param mayBeSealed some may be sealed already; none is where the setting becomes secret only now
 */
export async function sealValues(
  connection: PoolClient,
  box: SecretBox,
  { name, mayBeSealed }: { name: string; mayBeSealed: boolean },
): Promise<Sealing> {
  await lockUntilCommit(rawStatements(connection), keyOfDefinition(name));
  await connection.query(`SELECT set_config('plinth.scope', 'platform', true)`);
  const sealing: Sealing = { name, values: 0, unknown: 0 };
  for (const { read, write } of PLACES_OF_VALUES) {
    // The cursor reads what stands there now, and not what is written meanwhile.
    await connection.query({ text: `DECLARE unsealed NO SCROLL CURSOR FOR ${read}`, values: [name] });
    for (;;) {
      const { rows } = await connection.query<{ place: object; value: string }>(
        `FETCH ${VALUES_TOGETHER} FROM unsealed`,
      );
      if (rows.length === 0) break;
      const plain = rows.filter(({ value }) => box.open(value) === undefined);
      const open = mayBeSealed ? plain.filter(({ value }) => !box.hasSealedForm(value)) : plain;
      const sealed = open.map(({ place, value }) => ({ ...place, value: box.seal(value) }));
      await connection.query(write, [JSON.stringify(sealed)]);
      sealing.values += sealed.length;
      sealing.unknown += plain.length - sealed.length;
    }
    await connection.query('CLOSE unsealed');
  }
  await connection.query(
    `UPDATE setting_change SET previous_value = CASE WHEN previous_value IS NOT NULL THEN '${SECRET}' END,
       new_value = CASE WHEN new_value IS NOT NULL THEN '${SECRET}' END
     WHERE name = $1 AND (previous_value <> '${SECRET}' OR new_value <> '${SECRET}')`,
    [name],
  );
  await connection.query(
    `UPDATE setting_definition SET is_secret = true, is_sealed = true
     WHERE tenant_id = '${HOST_TENANT_ID}' AND name = $1`,
    [name],
  );
  await connection.query(`SELECT set_config('plinth.scope', '', true)`);
  return sealing;
}

/** Where values are: at their levels, and as they were before an import that can still be undone. */
const PLACES_OF_VALUES = [
  {
    read: `SELECT jsonb_build_object('tenant_id', tenant_id, 'scope', scope, 'user_id', user_id, 'name', name) AS place,
        value FROM setting_value WHERE name = $1`,
    write: `UPDATE setting_value AS t SET value = sealed.value
      FROM jsonb_to_recordset($1::jsonb) AS sealed (tenant_id uuid, scope text, user_id text, name text, value text)
      WHERE t.tenant_id = sealed.tenant_id AND t.scope = sealed.scope AND t.user_id = sealed.user_id
        AND t.name = sealed.name`,
  },
  {
    read: `SELECT jsonb_build_object('tenant_id', tenant_id, 'row_id', row_id, 'job_id', job_id) AS place,
        former ->> 'value' AS value FROM exchange_former WHERE former ->> 'name' = $1`,
    write: `UPDATE exchange_former AS t SET former = t.former || jsonb_build_object('value', sealed.value)
      FROM jsonb_to_recordset($1::jsonb) AS sealed (tenant_id uuid, row_id uuid, job_id uuid, value text)
      WHERE t.tenant_id = sealed.tenant_id AND t.row_id = sealed.row_id AND t.job_id = sealed.job_id`,
  },
];
