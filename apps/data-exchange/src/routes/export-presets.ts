import type { Api } from '@plinth/http/api';
import { created, noContent } from '@plinth/http/response';
import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import type { Deps } from '../compose';
import { parseSelection } from '@plinth/kernel/list-query';
import { selectFields, withoutBrackets } from '../domain/export-job';
import { definitionNotFound, definitionUnknown, exportPresetNotFound } from '../domain/problems';

const { deleteExportPreset, listExportPresets, saveExportPreset } = dataExchangeEndpoints;

export function mountExportPresets(api: Api, { owners, presets }: Pick<Deps, 'owners' | 'presets'>): void {
  const requireDefinition = async (name: string) => {
    if (!(await owners.find(name))?.exportable) throw definitionNotFound(name);
  };

  api.on(listExportPresets, async ({ params, caller }) => {
    await requireDefinition(params.name);
    return presets.list(caller, params.name);
  });

  api.on(saveExportPreset, async ({ body, caller }) => {
    const definition = await owners.find(body.definitionName);
    if (!definition?.exportable) throw definitionUnknown(body.definitionName);
    if (body.selectedFields.length > 0) selectFields(definition, body.selectedFields);
    parseSelection({ filter: withoutBrackets('filter', body.filter) }, definition.listRules);
    const { isNew } = await presets.save(caller, body);
    if (!isNew) return noContent();
    return created(body, `/exports/presets/${encodeURIComponent(body.definitionName)}`);
  });

  api.on(deleteExportPreset, async ({ params, caller }) => {
    await requireDefinition(params.name);
    if (!(await presets.remove(caller, params.name, params.preset)))
      throw exportPresetNotFound(params.name, params.preset);
    return noContent();
  });
}
