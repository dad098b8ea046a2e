import type { z } from 'zod';
import type { ImportFormatFindings } from '@plinth/contracts/data-exchange/shapes';
import type { ImportPreview } from '../app/read-preview';
import { clrTypeName, type DefinitionField } from '../domain/definition';

export const toPreviewResponse = (
  { fields, findings: _findings, version: _version, ...preview }: ImportPreview,
  findings: z.infer<typeof ImportFormatFindings>,
) => ({
  ...preview,
  findings,
  fieldMetadata: fields.map(toFieldMetadata),
});

export const toFieldMetadata = (field: DefinitionField) => ({
  propertyPath: field.propertyPath,
  clrTypeName: clrTypeName(field),
  displayName: field.header,
  description: field.description || null,
  isRequired: field.required,
});
