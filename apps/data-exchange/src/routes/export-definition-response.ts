import { ExportFormat } from '@plinth/contracts/data-exchange/shapes';
import { clrTypeName, type Definition, type DefinitionField } from '../domain/definition';

export const toDefinitionResponse = ({ name, entityType }: Definition) => ({
  name,
  entityType,
  supportedFormats: Object.values(ExportFormat),
});

export const toFieldDescriptor = (field: DefinitionField, order: number) => ({
  propertyPath: field.propertyPath,
  clrTypeName: clrTypeName(field),
  header: field.header || null,
  format: field.format || null,
  order,
  isNavigation: field.isNavigation,
});
