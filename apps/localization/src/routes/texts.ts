import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { listLocalizationTexts } from '@plinth/contracts/localization/endpoints';
import type { Api } from '@plinth/http/api';
import { ok } from '@plinth/http/response';
import type { Deps } from '../compose';
import { languages } from '../domain/languages';
import { findTextNames, hasDrifted, readIn, type TextName } from '../domain/text-list';
import { INCOMPLETE } from './bootstrap-response';
import type { TextListStore, TextSelection } from '../store/text-list';

const compress = promisify(gzip);
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
  ): Promise<Pick<TextSelection, 'names' | 'own'> & { isComplete: boolean }> => {
    const own = { resourceName, search };
    if (show === 'all') return { names: findTextNames(base, resourceName, search), own, isComplete: true };
    if (show === 'overridden') return { names: [], own, isComplete: true };
    const replacing = await textList.replacing(tenantId);
    const drifted = replacing.texts
      .filter((override) => hasDrifted(base, override))
      .filter((override) => resourceName === undefined || override.resourceName === resourceName)
      .filter(({ key, value }) => `${key}\n${value}`.toLowerCase().includes(search.toLowerCase()));
    return { names: drifted, own: undefined, isComplete: replacing.areAll };
  };

  api.on(listLocalizationTexts, async ({ query, list, tenantId }) => {
    const { cultures = platformCultures, resourceName, show } = query;
    const { isComplete, ...selection } = await select(tenantId, show, resourceName, list.search ?? '');
    const descending = list.sort[0]?.descending ?? false;
    const { limit, offset } = list;
    const { rows, totalCount } = await textList.names(tenantId, { ...selection, descending, limit, offset });
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
      // Each page is read once, so that little time for it matters more than the last bytes.
      gzip: () => compress(JSON.stringify(page), { level: constants.Z_BEST_SPEED }),
      headers: isComplete ? {} : INCOMPLETE,
    });
  });
}
