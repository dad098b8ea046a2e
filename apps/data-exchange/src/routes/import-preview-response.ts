import type { ImportPreview } from '../app/read-preview';
import { clrTypeName, type DefinitionField } from '../domain/definition';

export const toPreviewResponse = ({ fields, ...preview }: ImportPreview) => ({
  ...preview,
  fieldMetadata: fields.map(toFieldMetadata),
});

export const toFieldMetadata = (field: DefinitionField) => ({
  propertyPath: field.propertyPath,
  clrTypeName: clrTypeName(field),
  displayName: field.header,
  description: field.description || null,
  isRequired: field.required,
});
