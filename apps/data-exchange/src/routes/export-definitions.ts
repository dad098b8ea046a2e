import type { Api } from '@plinth/http/api';
import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import type { Deps } from '../compose';
import { definitionNotFound } from '../domain/problems';
import { toDefinitionResponse, toFieldDescriptor } from './export-definition-response';

const { listExportDefinitions, listExportFields } = dataExchangeEndpoints;

export function mountExportDefinitions(api: Api, { owners }: Pick<Deps, 'owners'>): void {
  api.on(listExportDefinitions, async () => {
    const definitions = await owners.list();
    return definitions.filter(({ exportable }) => exportable).map(toDefinitionResponse);
  });

  api.on(listExportFields, async ({ params }) => {
    const definition = await owners.find(params.name);
    if (!definition?.exportable) throw definitionNotFound(params.name);
    return definition.fields.map(toFieldDescriptor);
  });
}
