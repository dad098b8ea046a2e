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
    wantsTotalCount: boolean,
  ): Promise<NamesOfTexts & { areAll: boolean }> => {
    if (show === 'drifted') return textList.drifted(tenantId, own, page);
    const names = show === 'all' ? findTextNames(base, own.resourceName, own.search) : [];
    const found = await textList.names(tenantId, { names, own, page, wantsTotalCount });
    return { ...found, areAll: true };
  };

  api.on(listLocalizationTexts, async ({ query, list, tenantId }) => {
    const { cultures = platformCultures, resourceName, show } = query;
    const own = { resourceName, search: list.search ?? '' };
    const { limit, offset, wantsTotalCount } = list;
    const descending = list.sort[0]?.descending ?? false;
    const page = { descending, limit, offset };
    const { rows, totalCount, areAll } = await namesOf(tenantId, show, own, page, wantsTotalCount);
    const overrides = await textList.overridesOf(tenantId, rows, cultures);
    const byName = Map.groupBy(overrides, nameOf);
    const listed = list.toPage(rows, wantsTotalCount ? totalCount : null, (name) => ({
      ...name,
      values: cultures.map((cultureName) =>
        readIn(
          base,
          { ...name, cultureName },
          byName.get(nameOf(name))?.find((one) => one.cultureName === cultureName),
        ),
      ),
    }));
    return ok(listed, {
      gzip: compressQuickly,
      headers: areAll ? {} : INCOMPLETE,
    });
  });
}
