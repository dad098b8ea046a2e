import { ExportFormat } from '@plinth/contracts/data-exchange/shapes';
import { operatorsByType } from '@plinth/kernel/list-query';
import { clrTypeName, type Definition, type DefinitionField } from '../domain/definition';

export const toDefinitionResponse = ({ name, entityType, listRules }: Definition) => ({
  name,
  entityType,
  supportedFormats: Object.values(ExportFormat),
  filters: Object.entries(listRules.filterable).map(([field, { type, values }]) => ({
    field,
    type,
    operators: [...operatorsByType[type]],
    values: values ? Object.keys(values) : null,
  })),
});

export const toFieldDescriptor = (field: DefinitionField, order: number) => ({
  propertyPath: field.propertyPath,
  clrTypeName: clrTypeName(field),
  header: field.header || null,
  format: field.format || null,
  order,
  isNavigation: field.isNavigation,
});
