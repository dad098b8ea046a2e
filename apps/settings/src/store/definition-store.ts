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
import { sealValues, type Sealing, type Unsealed } from './seal-values';
import type { SecretBox } from './secret-box';

export interface DefinitionStore {
  /** All definitions by name; at most a few seconds old. */
  all(): Promise<ReadonlyMap<string, SettingDefinition>>;
  /**
   * Makes definitions known, or changes them; each belongs to the service that reads it. A setting that was secret stays so,
   * and one that becomes secret has its values sealed in one transaction; until then it is as before.
   */
  register(service: string, definitions: readonly SettingDefinition[]): Promise<void>;
  /** Seals what could not be sealed by whichever process, since changes that began before held it. */
  sealAgain(): Promise<void>;
}

interface Parts {
  db: Pick<TenantDatabase<Prisma.TransactionClient>, 'inTenant'>;
  /** Sealing all values of a setting may take longer than a request. */
  bulkPool: FairPool;
  box: SecretBox;
  log: Log;
}

const FRESH_MILLISECONDS = 2_000;
/** An import may hold a setting much longer, and changes of it wait behind who seals it. */
const LOCK_MILLISECONDS = 2_000;
const LOCK_NOT_AVAILABLE = '55P03';

export function definitionStore({ db, bulkPool, box, log }: Parts): DefinitionStore {
  /** Whether the log says that sealing waits for changes that began before. */
  let isPutOff = false;
  let cached: { at: number; definitions: Promise<ReadonlyMap<string, SettingDefinition>> } | undefined;

  const load = async (): Promise<ReadonlyMap<string, SettingDefinition>> => {
    const rows = await db.inTenant(HOST_TENANT_ID, (tx) =>
      tx.settingDefinition.findMany({ orderBy: { name: 'asc' } }),
    );
    return new Map(rows.map((row) => [row.name, toDefinition(row)]));
  };

  const inBulk = <Result>(work: (connection: PoolClient) => Promise<Result>): Promise<Result> =>
    retryConflicts(() =>
      inTransaction(bulkPool, ['plinth.tenant_id', HOST_TENANT_ID], work, {
        lockMilliseconds: LOCK_MILLISECONDS,
      }),
    );

  const seal = async (): Promise<void> => {
    let sealed: Sealing[] = [];
    try {
      sealed = await inBulk((connection) => sealUnsealed(connection, box));
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (!isPutOff)
        log.warn(
          {},
          'settings become secret when imports have ended that hold them; until then they are not',
        );
      isPutOff = true;
      return;
    }
    isPutOff = false;
    cached = undefined;
    for (const { name, values, unknown } of sealed)
      if (unknown === 0) log.info({ setting: name, values }, 'the values of a secret setting were sealed');
      else
        log.warn(
          { setting: name, values, unknown },
          'values of a secret setting look as if a key that is not configured had sealed them, and were left as they are',
        );
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
      const keptSecret = await inBulk((connection) => registerIn(connection, service, definitions));
      if (keptSecret.length > 0)
        log.warn({ service, settings: keptSecret }, 'settings that were secret once stay secret');
      cached = undefined;
      await seal();
    },

    async sealAgain() {
      const unsealed = await db.inTenant(HOST_TENANT_ID, (tx) =>
        tx.$queryRawUnsafe<unknown[]>(`${SELECT_UNSEALED} LIMIT 1`),
      );
      if (unsealed.length > 0) await seal();
    },
  };
}

/** Registers definitions; returns which of them stay secret though they are registered as none. */
async function registerIn(
  connection: PoolClient,
  service: string,
  definitions: readonly SettingDefinition[],
): Promise<string[]> {
  await lockUntilCommit(rawStatements(connection), 'setting definitions');
  const { rows } = await connection.query<{ name: string }>(
    `SELECT name FROM setting_definition
     WHERE tenant_id = '${HOST_TENANT_ID}' AND (is_secret OR is_sealed OR becomes_secret)`,
  );
  const secrets = new Set(rows.map(({ name }) => name));
  const registered = [...new Map(definitions.map((definition) => [definition.name, definition])).values()];
  // One that is new has no values. Of one that is known only who seals its values says that it is secret.
  await connection.query(
    `INSERT INTO setting_definition AS known (tenant_id, service, name, description, default_value, scopes,
       is_visible_to_users, is_secret, is_sealed, schema)
     SELECT '${HOST_TENANT_ID}', $1, name, description, "defaultValue", scopes,
       "isVisibleToUsers", "isSecret", "isSecret", schema
     FROM jsonb_to_recordset($2::jsonb) AS registered (name text, description text, "defaultValue" text, scopes text[],
       "isVisibleToUsers" boolean, "isSecret" boolean, schema jsonb)
     ON CONFLICT (tenant_id, name) DO UPDATE SET service = excluded.service, description = excluded.description,
       default_value = excluded.default_value, scopes = excluded.scopes,
       is_visible_to_users = excluded.is_visible_to_users, schema = excluded.schema,
       becomes_secret = (known.becomes_secret OR excluded.is_secret) AND NOT (known.is_secret AND known.is_sealed)`,
    [service, JSON.stringify(registered)],
  );
  return registered.filter(({ name, isSecret }) => !isSecret && secrets.has(name)).map(({ name }) => name);
}

const SELECT_UNSEALED = `SELECT name, is_secret OR is_sealed AS "mayBeSealed" FROM setting_definition
  WHERE tenant_id = '${HOST_TENANT_ID}' AND (is_secret OR is_sealed OR becomes_secret) AND NOT (is_secret AND is_sealed)`;

/** Seals what is not sealed yet of any secret: an earlier version left such values. */
async function sealUnsealed(connection: PoolClient, box: SecretBox): Promise<Sealing[]> {
  // One after the other: what one seals, the next one need not.
  await lockUntilCommit(rawStatements(connection), 'sealing of settings');
  const { rows } = await connection.query<Unsealed>(SELECT_UNSEALED);
  return rows.length === 0 ? [] : sealValues(connection, box, rows);
}

/** A version before that registers a secret as none unseals nothing. */
const isSecretRow = (row: { isSecret: boolean; isSealed: boolean }): boolean => row.isSecret || row.isSealed;

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
