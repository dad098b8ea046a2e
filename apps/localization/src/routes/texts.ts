import { listLocalizationTexts } from '@plinth/contracts/localization/endpoints';
import type { Api } from '@plinth/http/api';
import { compressQuickly } from '@plinth/http/compress-quickly';
import { ok } from '@plinth/http/response';
import type { Deps } from '../compose';
import { languages } from '../domain/languages';
import { findTextNames, readIn, type TextName } from '../domain/text-list';
import { INCOMPLETE } from './bootstrap-response';
import type { NamesOfTexts, OwnTexts, PageOfNames, TextListStore } from '../store/text-list';

const platformCultures = languages.map(({ cultureName }) => cultureName);
const nameOf = ({ resourceName, key }: TextName) => JSON.stringify([resourceName, key]);

export function mountTexts(
  api: Api,
  { base, textList }: { base: Deps['base']; textList: TextListStore },
): void {
  const namesOf = async (
    tenantId: string,
    show: 'all' | 'overridden' | 'drifted',
    own: OwnTexts,
    page: PageOfNames,
  ): Promise<NamesOfTexts & { areAll: boolean }> => {
    if (show === 'drifted') return textList.drifted(tenantId, own, page);
    const names = show === 'all' ? findTextNames(base, own.resourceName, own.search) : [];
    return { ...(await textList.names(tenantId, { names, own, page })), areAll: true };
  };

  api.on(listLocalizationTexts, async ({ query, list, tenantId }) => {
    const { cultures = platformCultures, resourceName, show } = query;
    const own = { resourceName, search: list.search ?? '' };
    const { limit, offset } = list;
    const descending = list.sort[0]?.descending ?? false;
    const { rows, totalCount, areAll } = await namesOf(tenantId, show, own, { descending, limit, offset });
    const overrides = await textList.overridesOf(tenantId, rows, cultures);
    const byName = Map.groupBy(overrides, nameOf);
    const page = list.toPage(rows, list.wantsTotalCount ? totalCount : null, (name) => ({
      ...name,
      values: cultures.map((cultureName) =>
        readIn(
          base,
          { ...name, cultureName },
          byName.get(nameOf(name))?.find((one) => one.cultureName === cultureName),
        ),
      ),
    }));
    return ok(page, {
      gzip: compressQuickly,
      headers: areAll ? {} : INCOMPLETE,
    });
  });
}
