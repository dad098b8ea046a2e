import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import { inTransaction, retryConflicts, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { rawStatements } from '@plinth/runtime/postgres/raw-statements';
import { forMany } from '@plinth/runtime/process/current-work';
import type { Log } from '@plinth/runtime/process/log';
import type { PoolClient } from 'pg';
import { requireUsableDefinition } from '../domain/value-schema';
import type { Prisma } from '../generated/client';
import { sealValues, type Sealing } from './seal-values';
import type { SecretBox } from './secret-box';

export interface DefinitionStore {
  /** All definitions by name; at most a few seconds old. */
  all(): Promise<ReadonlyMap<string, SettingDefinition>>;
  /**
   * Makes definitions known, or changes them; each belongs to the service that reads it. A setting that becomes secret has
   * its values sealed in the same transaction, and one that was secret stays so.
   */
  register(service: string, definitions: readonly SettingDefinition[]): Promise<void>;
}

interface Parts {
  db: Pick<TenantDatabase<Prisma.TransactionClient>, 'inTenant'>;
  /** Sealing all values of a setting may take longer than a request. */
  bulkPool: FairPool;
  box: SecretBox;
  log: Log;
}

const FRESH_MILLISECONDS = 2_000;
/** Whoever registers tries again; an import may hold a setting much longer, and changes of it wait behind this. */
const LOCK_MILLISECONDS = 2_000;

export function definitionStore({ db, bulkPool, box, log }: Parts): DefinitionStore {
  let cached: { at: number; definitions: Promise<ReadonlyMap<string, SettingDefinition>> } | undefined;

  const load = async (): Promise<ReadonlyMap<string, SettingDefinition>> => {
    const rows = await db.inTenant(HOST_TENANT_ID, (tx) =>
      tx.settingDefinition.findMany({ orderBy: { name: 'asc' } }),
    );
    return new Map(rows.map((row) => [row.name, toDefinition(row)]));
  };

  return {
    all() {
      if (!cached || performance.now() - cached.at > FRESH_MILLISECONDS) {
        const definitions = forMany(load);
        definitions.catch(() => (cached = undefined));
        cached = { at: performance.now(), definitions };
      }
      return cached.definitions;
    },

    async register(service, definitions) {
      definitions.forEach(requireUsableDefinition);
      const { sealed, keptSecret } = await retryConflicts(() =>
        inTransaction(
          bulkPool,
          ['plinth.tenant_id', HOST_TENANT_ID],
          (connection) => registerIn(connection, service, definitions, box),
          { lockMilliseconds: LOCK_MILLISECONDS },
        ),
      );
      for (const { name, values, unknown } of sealed)
        if (unknown === 0) log.info({ setting: name, values }, 'the values of a secret setting were sealed');
        else
          log.warn(
            { setting: name, values, unknown },
            'values of a secret setting look as if a key that is not configured had sealed them, and were left as they are',
          );
      if (keptSecret.length > 0)
        log.warn({ service, settings: keptSecret }, 'settings that were secret once stay secret');
      cached = undefined;
    },
  };
}

/** Registers definitions, and seals what is not sealed yet of any secret: an earlier version left such values. */
async function registerIn(
  connection: PoolClient,
  service: string,
  definitions: readonly SettingDefinition[],
  box: SecretBox,
): Promise<{ sealed: Sealing[]; keptSecret: string[] }> {
  // One registration after the other: what one seals, the next one need not.
  await lockUntilCommit(rawStatements(connection), 'setting definitions');
  const { rows } = await connection.query<{ name: string; isSecret: boolean; isSealed: boolean }>(
    `SELECT name, is_secret AS "isSecret", is_sealed AS "isSealed" FROM setting_definition
     WHERE tenant_id = '${HOST_TENANT_ID}'`,
  );
  const known = new Map(rows.map((row) => [row.name, row]));
  const wasSecret = (name: string): boolean => isSecretRow(known.get(name));
  const registered = Array.from(
    new Map(definitions.map((definition) => [definition.name, definition])).values(),
    (definition) => ({ ...definition, isSecret: definition.isSecret || wasSecret(definition.name) }),
  );
  await connection.query(
    `INSERT INTO setting_definition (tenant_id, service, name, description, default_value, scopes,
       is_visible_to_users, is_secret, is_sealed, schema)
     SELECT '${HOST_TENANT_ID}', $1, name, description, "defaultValue", scopes,
       "isVisibleToUsers", "isSecret", "isSecret", schema
     FROM jsonb_to_recordset($2::jsonb) AS registered (name text, description text, "defaultValue" text, scopes text[],
       "isVisibleToUsers" boolean, "isSecret" boolean, schema jsonb)
     ON CONFLICT (tenant_id, name) DO UPDATE SET service = excluded.service, description = excluded.description,
       default_value = excluded.default_value, scopes = excluded.scopes,
       is_visible_to_users = excluded.is_visible_to_users, is_secret = excluded.is_secret, schema = excluded.schema`,
    [service, JSON.stringify(registered)],
  );
  const secrets = new Set(registered.flatMap(({ name, isSecret }) => (isSecret ? [name] : [])));
  const unsealed = rows
    .filter((row) => (isSecretRow(row) || secrets.has(row.name)) && !(row.isSecret && row.isSealed))
    .map(({ name }) => ({ name, mayBeSealed: wasSecret(name) }));
  const sealed = unsealed.length === 0 ? [] : await sealValues(connection, box, unsealed);
  const keptSecret = definitions.filter(({ name, isSecret }) => !isSecret && wasSecret(name));
  return { sealed, keptSecret: keptSecret.map(({ name }) => name) };
}

/** A version before that registers a secret as none unseals nothing. */
const isSecretRow = (row: { isSecret: boolean; isSealed: boolean } | undefined): boolean =>
  row !== undefined && (row.isSecret || row.isSealed);

const toDefinition = (row: {
  name: string;
  description: string;
  defaultValue: string | null;
  scopes: string[];
  isVisibleToUsers: boolean;
  isSecret: boolean;
  isSealed: boolean;
  schema: unknown;
}): SettingDefinition => ({
  name: row.name,
  description: row.description,
  defaultValue: row.defaultValue,
  scopes: row.scopes as SettingScope[],
  isVisibleToUsers: row.isVisibleToUsers,
  isSecret: isSecretRow(row),
  schema: row.schema as Record<string, unknown>,
});
