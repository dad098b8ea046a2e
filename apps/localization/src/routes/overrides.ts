import { localizationEndpoints } from '@plinth/contracts/localization/endpoints';
import { LocalizationOverrideRules } from '@plinth/contracts/localization/shapes';
import type { Api } from '@plinth/http/api';
import { batchResultOf } from '@plinth/http/batch';
import { noContent, ok, okJson } from '@plinth/http/response';
import { staleVersion } from '@plinth/kernel/entity-tag';
import { parseInput } from '@plinth/kernel/validation';
import type { Deps } from '../compose';
import { requireSamePlaceholders } from '../domain/override';
import { overrideNotFound } from '../domain/problems';
import { baseText, type Override } from '../domain/texts';
import type { OverrideStore } from '../store/override-store';

const {
  listLocalizationOverrides,
  putLocalizationOverrides,
  removeLocalizationOverrides,
  getLocalizationOverride,
  putLocalizationOverride,
  deleteLocalizationOverride,
} = localizationEndpoints;

export function mountOverrides(
  api: Api,
  { base, overrides, textChecks }: Pick<Deps, 'base' | 'textChecks'> & { overrides: OverrideStore },
): void {
  const written = (override: Override) => ({ ...override, replacedValue: baseText(base, override) ?? null });

  api.on(listLocalizationOverrides, async ({ query, tenantId }) =>
    okJson(await overrides.list(tenantId, query)),
  );

  api.on(putLocalizationOverrides, async ({ body, caller }) => {
    // Texts with placeholders take milliseconds to be read, and a batch has hundreds of them.
    const check = (item: Override): Promise<Override> =>
      textChecks.take(caller, () => {
        const override = parseInput(LocalizationOverrideRules, item, 'body');
        requireSamePlaceholders(base, override);
        return override;
      });
    const checked = await batchResultOf(body.items, check);
    const stale = await overrides.putMany(
      caller,
      checked.results.flatMap(({ value }, place) =>
        value === null ? [] : [{ ...written(value), formerValue: body.items[place]!.formerValue, place }],
      ),
    );
    if (stale.size === 0) return checked;
    return batchResultOf([...body.items.entries()], async ([place, item]) => {
      const override = await check(item);
      if (stale.has(place)) throw staleVersion();
      return override;
    });
  });

  api.on(removeLocalizationOverrides, async ({ body, caller }) => {
    await overrides.removeMany(caller, body.items);
    return noContent();
  });

  api.on(getLocalizationOverride, async ({ params, tenantId }) => {
    const found = await overrides.find(tenantId, params);
    if (!found) throw overrideNotFound(params);
    return ok(found.override, { etag: found.etag });
  });

  api.on(putLocalizationOverride, async ({ params, body, caller, precondition }) => {
    const override = { ...params, value: body.value };
    requireSamePlaceholders(base, override);
    return noContent(await overrides.put(caller, written(override), precondition));
  });

  api.on(deleteLocalizationOverride, async ({ params, caller, precondition }) => {
    await overrides.remove(caller, params, precondition);
    return noContent();
  });
}
