import { cacheControlByPolicy } from '@plinth/contracts/endpoint';
import { localizationEndpoints } from '@plinth/contracts/localization/endpoints';
import type { Api } from '@plinth/conventions/api';
import { ok } from '@plinth/conventions/reply';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import type { Deps } from '../compose';
import { chooseCulture } from '../domain/culture';
import { languages } from '../domain/languages';

export function mountBootstrap(
  api: Api,
  { texts, callerCulture }: Pick<Deps, 'texts' | 'callerCulture'>,
): void {
  api.on(localizationEndpoints.getLocalization, async ({ query, caller, tenantId, request }) => {
    const asked = query.cultureName;
    const known = await texts.cultures(tenantId);
    const culture = chooseCulture(
      {
        asked,
        preferred: caller && asked === undefined ? await callerCulture.preferred(caller) : undefined,
        acceptLanguage: request.headers['accept-language'],
      },
      (candidate) => known.has(candidate),
    );
    const { resources, etag } = await texts.read(tenantId, culture);

    const isChosenByHost = caller === null && query.tenant === undefined && tenantId !== HOST_TENANT_ID;
    return ok(
      { currentCulture: culture, cultureName: culture, resources, languages: [...languages] },
      {
        etag,
        headers: {
          'cache-control': cacheControlByPolicy[caller ? 'user-data' : 'reference'],
          // Silences, rows 28 and 60: whatever chose the texts, and is not in the address, is named here.
          vary: ['Accept-Language', 'Authorization', ...(isChosenByHost ? ['Host'] : [])].join(', '),
        },
      },
    );
  });
}
