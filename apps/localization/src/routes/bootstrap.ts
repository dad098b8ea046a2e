import { cacheControlByPolicy } from '@plinth/contracts/endpoint';
import { localizationEndpoints } from '@plinth/contracts/localization/endpoints';
import type { Api } from '@plinth/http/api';
import { ok } from '@plinth/http/response';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { CompressedTexts } from '../app/compressed-texts';
import { readTexts } from '../app/read-texts';
import type { Deps } from '../compose';
import { INCOMPLETE, keyOfBootstrap, toBootstrap } from './bootstrap-response';

const { getLocalization } = localizationEndpoints;

export function mountBootstrap(
  api: Api,
  { texts, callerCulture }: Pick<Deps, 'texts' | 'callerCulture'>,
): void {
  const compressed = new CompressedTexts();
  api.on(getLocalization, async ({ query, caller, tenantId, request }) => {
    const requested = query.cultureName;
    const found = await readTexts(texts, tenantId, {
      requested,
      preferred: caller && requested === undefined ? await callerCulture.preferred(caller) : undefined,
      acceptLanguage: request.headers['accept-language'],
    });
    const isChosenByHost = caller === null && query.tenant === undefined && tenantId !== HOST_TENANT_ID;
    const body = toBootstrap(found, query.resourceNames);
    return ok(body, {
      etag: found.etag,
      gzip: (json) =>
        compressed.of(keyOfBootstrap(found, body, query.resourceNames), caller?.tenantId ?? '', json),
      headers: {
        ...(found.isComplete ? {} : INCOMPLETE),
        'cache-control': cacheControlByPolicy[caller ? 'user-data' : 'reference'],
        // Everything outside of the URL that decides about the texts, so that no shared cache mixes tenants.
        vary: ['Accept-Language', 'Authorization', ...(isChosenByHost ? ['Host'] : [])].join(', '),
      },
    });
  });
}
