const exportJob = {
  id: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55',
  definitionName: 'Localization.Overrides',
  format: 'csv',
  status: 'Completed',
  phase: null,
  rowCount: 124,
  fileName: 'Localization.Overrides_20261121-120000.csv',
  errorMessage: null,
  createdAt: '2026-11-21T12:00:00.000Z',
  completedAt: '2026-11-21T12:00:01.250Z',
};

const preset = {
  definitionName: 'Localization.Overrides',
  presetName: 'French texts',
  selectedFields: ['resourceName', 'key', 'value'],
  format: 'csv',
  includeIdForImport: false,
  filter: { 'cultureName.eq': 'fr' },
};

const importJob = {
  id: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55',
  definitionName: 'Localization.Overrides',
  originalFileName: 'texts.csv',
  mimeType: 'text/csv',
  fileSizeBytes: 48_213,
  status: 'PartiallyCompleted',
  createdAt: '2026-11-21T12:00:00.000Z',
  completedAt: '2026-11-21T12:00:12.345Z',
  undoStatus: null,
};

const field = {
  propertyPath: 'cultureName',
  clrTypeName: 'String',
  displayName: 'Culture',
  description: 'The language of the text, as a BCP 47 tag.',
  isRequired: true,
};

const mapping = { sourceColumn: 'culture', targetProperty: 'cultureName', confidence: 'Fuzzy' };

/** Examples of the shapes of imports and exports, by the names of the shapes. */
export const dataExchangeExamples: Record<string, unknown> = {
  ExportDefinitionResponse: {
    name: 'Localization.Overrides',
    entityType: 'LocalizationOverride',
    supportedFormats: ['csv', 'xlsx', 'json'],
    filters: [
      {
        field: 'cultureName',
        type: 'string',
        operators: ['eq', 'contains', 'startsWith', 'endsWith', 'in'],
        values: null,
      },
    ],
  },
  ExchangeJob: {
    kind: 'import',
    id: importJob.id,
    tenantId: '01900000-0000-7000-8000-00000000d301',
    definitionName: 'Localization.Overrides',
    status: 'Executing',
    rowsDone: 1_500,
    rowsFailed: 2,
    createdAt: '2026-11-21T12:00:00.000Z',
    completedAt: null,
    progressAt: '2026-11-21T12:00:01.400Z',
    errorMessage: null,
  },
  ExportFieldDescriptor: {
    propertyPath: 'cultureName',
    clrTypeName: 'String',
    header: 'Culture',
    format: null,
    order: 1,
    isNavigation: false,
  },
  CreateExportJobRequest: {
    definitionName: 'Localization.Overrides',
    format: 'csv',
    selectedFields: preset.selectedFields,
    filter: { 'cultureName.eq': 'fr' },
    sort: 'key',
  },
  ExportJobResponse: exportJob,
  ExportPresetResponse: preset,
  SaveExportPresetRequest: preset,
  ImportJobResponse: importJob,
  ImportColumnMapping: mapping,
  ImportFieldMetadata: field,
  ImportDefinitionResponse: {
    name: 'Localization.Overrides',
    entityType: 'LocalizationOverride',
    isUndoable: true,
    fields: [field],
  },
  ImportPreviewResponse: {
    headers: ['resource', 'culture', 'key', 'value'],
    headerRow: 1,
    previewRows: [['Shop', 'fr', 'title', 'Boutique']],
    previewRowNumbers: [2],
    suggestions: [mapping],
    fieldMetadata: [field],
    findings: [],
  },
  DraftImportMappingsRequest: {
    mappings: [
      { sourceColumn: 'resource', targetProperty: 'resourceName' },
      { sourceColumn: 'value', targetProperty: null },
    ],
    options: { mode: 'insert', onError: 'abort' },
  },
  DraftImportMappingsResponse: {
    mappings: [{ sourceColumn: 'resource', targetProperty: 'resourceName', confidence: 'Manual' }],
    options: { mode: 'insert', onError: 'abort' },
  },
  ConfirmImportMappingsRequest: {
    mappings: [
      { sourceColumn: 'resource', targetProperty: 'resourceName' },
      { sourceColumn: 'culture', targetProperty: 'cultureName' },
      { sourceColumn: 'key', targetProperty: 'key' },
      { sourceColumn: 'value', targetProperty: 'value' },
    ],
    saveForReuse: true,
  },
  ImportOptions: { mode: 'upsert', onError: 'continue' },
  ImportReportResponse: {
    importJobId: importJob.id,
    finalStatus: importJob.status,
    totalRows: 124,
    succeededRows: 123,
    failedRows: 1,
    skippedRows: 0,
    insertedRows: 120,
    updatedRows: 3,
    duration: 'PT12.345S',
    rowErrors: [
      {
        rowNumber: 3,
        kind: 'Validation',
        errorCodes: ['Service:Validation:FormatValidator'],
        message: 'Not a language tag.',
        details: [
          {
            column: 'culture',
            value: 'xx_',
            code: 'Service:Validation:FormatValidator',
            message: 'Not a language tag.',
          },
        ],
      },
    ],
    errorMessage: null,
  },
  ImportUndoResponse: {
    importJobId: importJob.id,
    status: 'PartiallyUndone',
    removedRows: 119,
    restoredRows: 3,
    goneRows: 0,
    keptRows: 1,
    kept: [{ rowNumber: 17, key: 'Shop, fr, title', reason: 'ChangedSince' }],
    requestedBy: 'ada',
    requestedAt: '2026-11-21T13:00:00.000Z',
    completedAt: '2026-11-21T13:00:02.100Z',
    errorMessage: null,
  },
  ImportFileFormat: {
    kind: 'csv',
    encoding: 'utf-8',
    hasByteOrderMark: false,
    delimiter: ';',
    headerRow: 3,
    headerRows: 1,
    lastRow: 0,
    quote: '"',
    escape: 'Doubled',
    findings: [{ code: 'Preamble', detail: 'The table begins in row 3.' }],
    decimalSeparator: ',',
    dateOrder: 'DayMonthYear',
    dateOrderFrom: 'File',
    sheets: null,
    sheet: null,
  },
  CorrectImportFormatRequest: { delimiter: ';', dateOrder: 'DayMonthYear' },
};
