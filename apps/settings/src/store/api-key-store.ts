import { hashOfApiKey, hintOfApiKey } from '@plinth/kernel/api-key';
import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import type { ListRequest } from '@plinth/http/paging';
import { findPage, toWhere } from '@plinth/http/prisma-list';
import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import { readAtOneInstant } from '@plinth/runtime/postgres/at-one-instant';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import { runOnce } from '@plinth/runtime/postgres/run-once';
import type { ApiKeyGrant } from '../domain/api-key';
import { apiKeyNotFound, apiKeyShownBefore, tooManyApiKeys } from '../domain/problems';
import { publishApiKeyCreated, publishApiKeyRevoked } from '../events/published';
import type { ApiKey as ApiKeyRow, Prisma } from '../generated/client';

export type { ApiKeyRow };
type Tx = Prisma.TransactionClient;

/** Of a tenant, neither revoked nor expired. */
const IN_USE_MAX = 200;
/** How long a key is listed after it was revoked or has expired, where there are not so many newer ones. */
const LISTED_DAYS = 90;
const LISTED_MAX = 1_000;

export interface ApiKeyStore {
  /** Stores the hash of a key, once per operation. @throws Problem `api-key-shown-before`, `quota-exceeded` */
  create(caller: Caller, key: string, grant: ApiKeyGrant): Promise<ApiKeyRow>;
  /** @throws Problem `api-key-not-found` */
  get(tenantId: string, id: string): Promise<ApiKeyRow>;
  list(tenantId: string, list: ListRequest): Promise<{ rows: ApiKeyRow[]; totalCount: number | null }>;
  /** Revokes a key; one that is revoked already stays as it is. @throws Problem `api-key-not-found` */
  revoke(caller: Caller, id: string): Promise<void>;
  /** The key with this hash in any tenant, which is in use now. */
  findInUse(hash: string): Promise<ApiKeyRow | undefined>;
}

export function apiKeyStore(db: TenantDatabase<Tx>): ApiKeyStore {
  const get = async (tx: Tx, tenantId: string, id: string): Promise<ApiKeyRow> => {
    const row = await tx.apiKey.findUnique({ where: { tenantId_id: { tenantId, id } } });
    if (!row) throw apiKeyNotFound(id);
    return row;
  };

  return {
    async create(caller, key, grant) {
      const { tenantId, userId, userName } = caller;
      const id = newId();
      return db.inTenant(tenantId, async (tx) => {
        await lockUntilCommit(tx, `${tenantId}/api-keys`);
        const created = await runOnce(
          tx,
          caller,
          async () => {
            await requireRoom(tx, tenantId);
            await tx.apiKey.create({
              data: {
                ...grant,
                tenantId,
                id,
                keyHash: hashOfApiKey(key),
                hint: hintOfApiKey(key),
                createdAt: new Date(),
                createdBy: userId,
                createdByName: userName,
              },
            });
            await publishApiKeyCreated(tx, caller, { id, ...grant });
            return id;
          },
          id,
        );
        if (created !== id) throw apiKeyShownBefore(created);
        return get(tx, tenantId, id);
      });
    },

    get: (tenantId, id) => db.inTenant(tenantId, (tx) => get(tx, tenantId, id)),

    list: (tenantId, list) =>
      db.inTenant(tenantId, async (tx) => {
        await readAtOneInstant(tx);
        await readByIndexes(tx, 'for-values');
        return findPage(list, {
          selection: { AND: [{ tenantId }, toWhere(list, ['name', 'createdByName'])] },
          dates: ['createdAt', 'expiresAt'],
          find: (page) => tx.apiKey.findMany(page),
          count: (all) => tx.apiKey.count(all),
        });
      }),

    async revoke(caller, id) {
      const { tenantId, userId } = caller;
      await db.inTenant(tenantId, async (tx) => {
        const { name } = await get(tx, tenantId, id);
        const { count } = await tx.apiKey.updateMany({
          where: { tenantId, id, revokedAt: null },
          data: { revokedAt: new Date(), revokedBy: userId },
        });
        if (count > 0) await publishApiKeyRevoked(tx, caller, { id, name });
      });
    },

    findInUse: (hash) =>
      db.inPlatform(async (tx) => {
        const row = await tx.apiKey.findFirst({ where: { keyHash: hash } });
        if (!row) return undefined;
        // One write a minute, however often the key is used.
        await tx.$executeRaw`
          UPDATE api_key SET last_used_at = now()
          WHERE key_hash = ${hash} AND revoked_at IS NULL AND expires_at > now()
            AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`;
        return row;
      }),
  };
}

/** Deletes what is listed no longer. @throws Problem `quota-exceeded` where a tenant uses as many keys as it may */
async function requireRoom(tx: Tx, tenantId: string): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM api_key WHERE tenant_id = ${tenantId}::uuid AND id IN (
      SELECT id FROM (
        SELECT id, least(expires_at, revoked_at) AS ended_at,
          row_number() OVER (ORDER BY created_at DESC, id DESC) AS place
        FROM api_key WHERE tenant_id = ${tenantId}::uuid
      ) AS key
      WHERE ended_at < now() - make_interval(days => ${LISTED_DAYS}::int)
        OR (place >= ${LISTED_MAX}::int AND ended_at < now()))`;
  const used = await tx.apiKey.count({
    where: { tenantId, revokedAt: null, expiresAt: { gt: new Date() } },
  });
  if (used >= IN_USE_MAX) throw tooManyApiKeys(IN_USE_MAX, used);
}
