import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { forMany } from '@plinth/runtime/process/current-work';
import { requireUsableDefinition } from '../domain/value-schema';
import type { Prisma } from '../generated/client';

export interface DefinitionStore {
  /** All definitions by name; at most a few seconds old. */
  all(): Promise<ReadonlyMap<string, SettingDefinition>>;
  /** Makes definitions known, or changes them; each belongs to the service that reads it. */
  register(service: string, definitions: readonly SettingDefinition[]): Promise<void>;
}

const FRESH_MILLISECONDS = 2_000;

export function definitionStore(db: TenantDatabase<Prisma.TransactionClient>): DefinitionStore {
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
      await db.inTenant(HOST_TENANT_ID, async (tx) => {
        for (const { name, schema, ...rest } of definitions) {
          const data = { ...rest, service, schema: schema as Prisma.InputJsonObject };
          await tx.settingDefinition.upsert({
            where: { tenantId_name: { tenantId: HOST_TENANT_ID, name } },
            create: { tenantId: HOST_TENANT_ID, name, ...data },
            update: data,
          });
        }
      });
      cached = undefined;
    },
  };
}

const toDefinition = (row: {
  name: string;
  description: string;
  defaultValue: string | null;
  scopes: string[];
  isVisibleToUsers: boolean;
  isSecret: boolean;
  schema: unknown;
}): SettingDefinition => ({
  name: row.name,
  description: row.description,
  defaultValue: row.defaultValue,
  scopes: row.scopes as SettingScope[],
  isVisibleToUsers: row.isVisibleToUsers,
  isSecret: row.isSecret,
  schema: row.schema as Record<string, unknown>,
});
