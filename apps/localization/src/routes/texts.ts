import { listLocalizationTexts } from '@plinth/contracts/localization/endpoints';
import type { Api } from '@plinth/http/api';
import type { Deps } from '../compose';
import { languages } from '../domain/languages';
import { findTextNames, hasDrifted, readIn, type TextName } from '../domain/text-list';
import type { TextListStore, TextSelection } from '../store/text-list';

const platformCultures = languages.map(({ cultureName }) => cultureName);
const nameOf = ({ resourceName, key }: TextName) => JSON.stringify([resourceName, key]);

export function mountTexts(
  api: Api,
  { base, textList }: { base: Deps['base']; textList: TextListStore },
): void {
  /** Which names a list has, before it is cut into pages. */
  const select = async (
    tenantId: string,
    show: 'all' | 'overridden' | 'drifted',
    resourceName: string | undefined,
    search: string,
  ): Promise<Pick<TextSelection, 'names' | 'own'>> => {
    const own = { resourceName, search };
    if (show === 'all') return { names: findTextNames(base, resourceName, search), own };
    if (show === 'overridden') return { names: [], own };
    const drifted = (await textList.replacing(tenantId))
      .filter((override) => hasDrifted(base, override))
      .filter((override) => resourceName === undefined || override.resourceName === resourceName)
      .filter(({ key, value }) => `${key}\n${value}`.toLowerCase().includes(search.toLowerCase()));
    return { names: drifted, own: undefined };
  };

  api.on(listLocalizationTexts, async ({ query, list, tenantId }) => {
    const { cultures = platformCultures, resourceName, show } = query;
    const selection = await select(tenantId, show, resourceName, list.search ?? '');
    const descending = list.sort[0]?.descending ?? false;
    const { limit, offset } = list;
    const { rows, totalCount } = await textList.names(tenantId, { ...selection, descending, limit, offset });
    const overrides = await textList.overridesOf(tenantId, rows, cultures);
    const byName = Map.groupBy(overrides, nameOf);
    return list.toPage(rows, list.wantsTotalCount ? totalCount : null, (name) => ({
      ...name,
      values: cultures.map((cultureName) =>
        readIn(
          base,
          { ...name, cultureName },
          byName.get(nameOf(name))?.find((one) => one.cultureName === cultureName),
        ),
      ),
    }));
  });
}
