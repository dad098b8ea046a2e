import type { ImportPreview } from '../app/read-preview';
import { clrTypeName } from '../domain/definition';

export const toPreviewResponse = ({ fields, ...preview }: ImportPreview) => ({
  ...preview,
  fieldMetadata: fields.map((field) => ({
    propertyPath: field.propertyPath,
    clrTypeName: clrTypeName(field),
    displayName: field.header,
    description: field.description || null,
    isRequired: field.required,
  })),
});
