import { localizationEndpoints } from '@plinth/contracts/localization/endpoints';
import { LocalizationOverrideRules } from '@plinth/contracts/localization/shapes';
import type { Api } from '@plinth/http/api';
import { batchResultOf } from '@plinth/http/batch';
import { noContent, ok } from '@plinth/http/response';
import { parseInput } from '@plinth/kernel/validation';
import type { Deps } from '../compose';
import { requireSamePlaceholders } from '../domain/override';
import { overrideNotFound } from '../domain/problems';
import type { Override } from '../domain/texts';
import type { OverrideStore } from '../store/override-store';

const {
  listLocalizationOverrides,
  putLocalizationOverrides,
  getLocalizationOverride,
  putLocalizationOverride,
  deleteLocalizationOverride,
} = localizationEndpoints;

export function mountOverrides(
  api: Api,
  { base, overrides }: { base: Deps['base']; overrides: OverrideStore },
): void {
  api.on(listLocalizationOverrides, ({ query, tenantId }) => overrides.list(tenantId, query));

  api.on(putLocalizationOverrides, async ({ body, caller }) => {
    const checked = await batchResultOf<Override, Override>(body.items, async (item) => {
      const override = parseInput(LocalizationOverrideRules, item, 'body');
      requireSamePlaceholders(base, override);
      return override;
    });
    await overrides.putMany(
      caller,
      checked.results.map(({ value }) => value).filter((value) => value !== null),
    );
    return checked;
  });

  api.on(getLocalizationOverride, async ({ params, tenantId }) => {
    const found = await overrides.find(tenantId, params);
    if (!found) throw overrideNotFound(params);
    return ok(found.override, { etag: found.etag });
  });

  api.on(putLocalizationOverride, async ({ params, body, caller, ifMatch }) => {
    const override = { ...params, value: body.value };
    requireSamePlaceholders(base, override);
    return noContent(await overrides.put(caller, override, ifMatch));
  });

  api.on(deleteLocalizationOverride, async ({ params, caller, ifMatch }) => {
    await overrides.remove(caller, params, ifMatch);
    return noContent();
  });
}
