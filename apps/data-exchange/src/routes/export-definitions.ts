import type { Api } from '@plinth/conventions/api';
import { listExportDefinitions, listExportFields } from '@plinth/contracts/data-exchange/endpoints';
import { ExportFormat } from '@plinth/contracts/data-exchange/shapes';
import type { Deps } from '../compose';
import { clrTypeName } from '../domain/definition';
import { definitionNotFound } from '../domain/problems';

export function mountExportDefinitions(api: Api, { owners }: Pick<Deps, 'owners'>): void {
  api.on(listExportDefinitions, async () => {
    const definitions = await owners.list();
    return definitions
      .filter(({ exportable }) => exportable)
      .map(({ name, entityType }) => ({ name, entityType, supportedFormats: Object.values(ExportFormat) }));
  });

  api.on(listExportFields, async ({ params }) => {
    const definition = await owners.find(params.name);
    if (!definition?.exportable) throw definitionNotFound(params.name);
    return definition.fields.map((field, order) => ({
      propertyPath: field.propertyPath,
      clrTypeName: clrTypeName(field),
      header: field.header || null,
      format: field.format || null,
      order,
      isNavigation: field.isNavigation,
    }));
  });
}
