import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import type { Api } from '@plinth/http/api';
import { created, noContent } from '@plinth/http/response';
import { newApiKey } from '@plinth/kernel/api-key';
import type { Deps } from '../compose';
import { grantApiKey, requirePerson } from '../domain/api-key';
import { cursorKeyOf, toApiKey } from './api-key-response';

const { getApiKeys, postApiKey, getApiKey, deleteApiKey } = settingsEndpoints;

export function mountApiKeys(api: Api, { apiKeys, log }: Pick<Deps, 'apiKeys' | 'log'>): void {
  api.on(getApiKeys, async ({ list, caller }) => {
    const { rows, totalCount } = await apiKeys.list(caller.tenantId, list);
    return list.toPage(rows, totalCount, toApiKey, cursorKeyOf(list));
  });

  api.on(postApiKey, async ({ body, caller }) => {
    const key = newApiKey();
    const row = await apiKeys.create(caller, key, grantApiKey(caller, body, new Date()));
    const { tenantId, userId } = caller;
    log.info({ apiKeyId: row.id, tenantId, userId, permissions: row.permissions }, 'API key created');
    return created({ ...toApiKey(row), key }, `/api-keys/${row.id}`);
  });

  api.on(getApiKey, async ({ params: { id }, caller }) => toApiKey(await apiKeys.get(caller.tenantId, id)));

  api.on(deleteApiKey, async ({ params: { id }, caller }) => {
    requirePerson(caller);
    await apiKeys.revoke(caller, id);
    const { tenantId, userId } = caller;
    log.info({ apiKeyId: id, tenantId, userId }, 'API key revoked');
    return noContent();
  });
}
