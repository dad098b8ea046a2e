import { z } from 'zod';
import { formatFindings, type ImportFormatFinding } from './format-findings';
import { Id, text, Timestamp } from '../schemas';

/** Formats that an export can be written in. */
export const ExportFormat = { Csv: 'csv', Xlsx: 'xlsx', Json: 'json' } as const;
export type ExportFormat = (typeof ExportFormat)[keyof typeof ExportFormat];

/** The format in a request: in any case. */
const RequestedExportFormat = z
  .string()
  .toLowerCase()
  .pipe(z.enum(ExportFormat))
  .meta({ enum: Object.values(ExportFormat), description: 'In any case' });

export const ExportJobStatus = {
  Queued: 'Queued',
  Exporting: 'Exporting',
  Completed: 'Completed',
  Failed: 'Failed',
} as const;
export type ExportJobStatus = (typeof ExportJobStatus)[keyof typeof ExportJobStatus];

/** What an export that runs is doing. */
export const ExportPhase = {
  WritingRows: 'WritingRows',
  FinishingFile: 'FinishingFile',
} as const;
export type ExportPhase = (typeof ExportPhase)[keyof typeof ExportPhase];

export const ImportJobStatus = {
  Created: 'Created',
  Previewed: 'Previewed',
  Mapped: 'Mapped',
  Executing: 'Executing',
  Completed: 'Completed',
  PartiallyCompleted: 'PartiallyCompleted',
  Failed: 'Failed',
  Cancelled: 'Cancelled',
} as const;
export type ImportJobStatus = (typeof ImportJobStatus)[keyof typeof ImportJobStatus];

/** How certain it is that a column belongs to a property. */
export const MappingConfidence = {
  Manual: 'Manual',
  Saved: 'Saved',
  Exact: 'Exact',
  Fuzzy: 'Fuzzy',
  Semantic: 'Semantic',
} as const;
export type MappingConfidence = (typeof MappingConfidence)[keyof typeof MappingConfidence];

/** Why a row could not be imported. */
export const ImportRowErrorKind = {
  Conversion: 'Conversion',
  Validation: 'Validation',
  Persistence: 'Persistence',
  Identity: 'Identity',
} as const;
export type ImportRowErrorKind = (typeof ImportRowErrorKind)[keyof typeof ImportRowErrorKind];

export const ImportMode = { Insert: 'insert', Update: 'update', Upsert: 'upsert' } as const;
export type ImportMode = (typeof ImportMode)[keyof typeof ImportMode];

export const OnError = { Continue: 'continue', Abort: 'abort' } as const;
export type OnError = (typeof OnError)[keyof typeof OnError];

/** A report lists at most this many row errors; the correction file has all. */
export const REPORT_ROW_ERRORS_MAX = 1_000;
/** So many row errors come with the cells of their rows, and a row has so many characters at most to be among them. */
export const REPORT_ROWS_WITH_CELLS_MAX = 200;
export const REPORT_ROW_LENGTH_MAX = 10_000;
export const COLUMNS_MAX = 1_000;
export const SELECTED_FIELDS_MAX = 500;
/** Of one user and definition. */
export const PRESETS_MAX = 200;
const NAME_LENGTH_MAX = 200;

export const DefinitionName = z
  .string()
  .min(1)
  .max(NAME_LENGTH_MAX)
  .meta({ examples: ['Localization.Overrides'] });
export const PresetName = text(NAME_LENGTH_MAX, 1);
const SelectedFields = z
  .array(z.string().max(NAME_LENGTH_MAX))
  .refine((fields) => fields.length <= SELECTED_FIELDS_MAX, {
    message: `At most ${SELECTED_FIELDS_MAX} fields can be selected.`,
    params: { rule: 'MaximumLength' },
  });
const TextByName = z.record(z.string(), z.string());

const ExportFilter = z.object({
  field: z.string(),
  type: z.enum(['string', 'integer', 'number', 'boolean', 'timestamp', 'uuid', 'enum']),
  operators: z.array(z.string()),
  values: z.array(z.string()).nullable().meta({ description: 'Of an enum: the names of its values' }),
});

export const ExportDefinitionResponse = z
  .object({
    name: z.string(),
    entityType: z.string(),
    supportedFormats: z.array(z.string()),
    filters: z.array(ExportFilter).meta({ description: 'What the member `filter` of an export can say' }),
  })
  .meta({ id: 'ExportDefinitionResponse' });

export const ExportFieldDescriptor = z
  .object({
    propertyPath: z.string(),
    clrTypeName: z.string(),
    header: z.string().nullable(),
    format: z.string().nullable(),
    order: z.int(),
    isNavigation: z.boolean(),
  })
  .meta({ id: 'ExportFieldDescriptor' });

export const CreateExportJobRequest = z
  .object({
    definitionName: DefinitionName,
    format: RequestedExportFormat,
    selectedFields: SelectedFields.nullish().meta({
      description: `Columns in their order, at most ${SELECTED_FIELDS_MAX}; all when null or empty`,
    }),
    includeIdForImport: z
      .boolean()
      .default(false)
      .meta({ description: 'Adds the column `Id`, by which an import finds the row' }),
    sort: z.string().max(1_000).nullish(),
    filter: TextByName.nullish().meta({
      description: 'As in list queries: `{"cultureName.eq": "fr"}` or `{"filter[cultureName.eq]": "fr"}`',
    }),
    presets: TextByName.nullish(),
    search: z.string().nullish(),
  })
  .meta({ id: 'CreateExportJobRequest' });

export const ExportJobResponse = z
  .object({
    id: Id,
    definitionName: z.string(),
    format: z.string(),
    status: z.enum(ExportJobStatus),
    phase: z.enum(ExportPhase).nullable().meta({
      description: 'While it is `Exporting`: after the last row the file is finished and stored',
    }),
    rowCount: z.int().nullable(),
    fileName: z.string().nullable(),
    errorMessage: z.string().nullable(),
    createdAt: Timestamp,
    completedAt: Timestamp.nullable(),
  })
  .meta({ id: 'ExportJobResponse' });

export const ExportPresetResponse = z
  .object({
    definitionName: z.string(),
    presetName: z.string(),
    selectedFields: z.array(z.string()),
    format: z.string(),
    includeIdForImport: z.boolean(),
    filter: TextByName.nullable(),
  })
  .meta({ id: 'ExportPresetResponse' });

export const SaveExportPresetRequest = z
  .object({
    definitionName: DefinitionName,
    presetName: PresetName,
    selectedFields: SelectedFields.nullish().transform((fields) => fields ?? []),
    format: RequestedExportFormat,
    includeIdForImport: z.boolean().default(false),
    filter: TextByName.nullish()
      .transform((filter) => filter ?? null)
      .meta({ description: 'Which rows, as in an export' }),
  })
  .meta({ id: 'SaveExportPresetRequest' });

/** The status of the undo of an import. */
export const ImportUndoStatus = {
  Undoing: 'Undoing',
  Undone: 'Undone',
  PartiallyUndone: 'PartiallyUndone',
  Failed: 'Failed',
} as const;
export type ImportUndoStatus = (typeof ImportUndoStatus)[keyof typeof ImportUndoStatus];

export const ImportJobResponse = z
  .object({
    id: Id,
    definitionName: z.string(),
    originalFileName: z.string(),
    mimeType: z.string(),
    fileSizeBytes: z.int(),
    status: z.enum(ImportJobStatus),
    createdAt: Timestamp,
    completedAt: Timestamp.nullable(),
    undoStatus: z
      .enum(ImportUndoStatus)
      .nullable()
      .meta({ description: 'How far its undo is; null where nobody asked for one' }),
  })
  .meta({ id: 'ImportJobResponse' });

export const ImportColumnMapping = z
  .object({
    sourceColumn: z.string(),
    targetProperty: z.string().nullable(),
    confidence: z.enum(MappingConfidence),
  })
  .meta({ id: 'ImportColumnMapping' });

export const ImportFieldMetadata = z
  .object({
    propertyPath: z.string(),
    clrTypeName: z.string(),
    displayName: z.string(),
    description: z.string().nullable(),
    isRequired: z.boolean(),
  })
  .meta({ id: 'ImportFieldMetadata' });

export const ImportDefinitionResponse = z
  .object({
    name: z.string(),
    entityType: z.string(),
    isUndoable: z.boolean(),
    fields: z.array(ImportFieldMetadata).meta({ description: 'What the columns of a file can hold' }),
  })
  .meta({ id: 'ImportDefinitionResponse' });

export const ImportPreviewResponse = z
  .object({
    headers: z.array(z.string()),
    headerRow: z.int().meta({ description: 'The number of the row with the header; 0 where there is none' }),
    previewRows: z.array(z.array(z.string())),
    previewRowNumbers: z.array(z.int()).meta({ description: 'The numbers of these rows in the file' }),
    suggestions: z.array(ImportColumnMapping),
    fieldMetadata: z.array(ImportFieldMetadata),
    findings: z.array(z.object({ code: z.string(), detail: z.string() })).meta({
      description: 'What is unusual about the file, and why it is read so; `PUT …/format` corrects it',
    }),
  })
  .meta({ id: 'ImportPreviewResponse' });

const MappingsOfRequest = z
  .array(
    z.object({
      sourceColumn: z.string(),
      targetProperty: z.string().nullish(),
      confidence: z.enum(MappingConfidence).nullish(),
    }),
  )
  .max(COLUMNS_MAX);

export const ConfirmImportMappingsRequest = z
  .object({
    mappings: MappingsOfRequest,
    saveForReuse: z
      .boolean()
      .nullish()
      .meta({ description: 'Suggest these mappings for the next file with the same header' }),
  })
  .meta({ id: 'ConfirmImportMappingsRequest' });

export const ImportOptions = z
  .object({
    mode: z.enum(ImportMode).nullish().meta({ description: '`upsert` unless given' }),
    onError: z
      .enum(OnError)
      .nullish()
      .meta({ description: '`continue` unless given; `abort` imports all rows or none' }),
    sheet: z
      .string()
      .max(100)
      .nullish()
      .meta({ description: 'Name of the sheet of a workbook; the first one unless given' }),
  })
  .meta({ id: 'ImportOptions' });

const DraftOptions = ImportOptions.pick({ mode: true, onError: true });

export const DraftImportMappingsRequest = z
  .object({
    mappings: MappingsOfRequest.optional(),
    options: DraftOptions.optional().meta({ description: 'How the import is meant to be executed' }),
  })
  .refine(({ mappings, options }) => mappings !== undefined || options !== undefined, {
    params: { rule: 'NotEmpty' },
    message: 'Give mappings, options, or both.',
  })
  .meta({ id: 'DraftImportMappingsRequest' });

export const DraftImportMappingsResponse = z
  .object({
    mappings: z.array(ImportColumnMapping).meta({ description: 'Those that were kept or confirmed last' }),
    options: z.object({ mode: z.enum(ImportMode), onError: z.enum(OnError) }),
  })
  .meta({ id: 'DraftImportMappingsResponse' });

export const ImportRowErrorDetail = z
  .object({
    column: z.string().nullable(),
    value: z.string().nullable(),
    code: z.string(),
    message: z.string(),
  })
  .meta({ id: 'ImportRowErrorDetail' });

export const ImportRowError = z
  .object({
    rowNumber: z.int().meta({ description: 'Number of the record in the file; the header is 1' }),
    kind: z.enum(ImportRowErrorKind),
    errorCodes: z.array(z.string()),
    message: z.string(),
    details: z.array(ImportRowErrorDetail),
    cells: z
      .array(z.string())
      .optional()
      .meta({
        description: `The row as it is in the file, where \`includeCells\` asks for it: of the first ${REPORT_ROWS_WITH_CELLS_MAX} row errors`,
      }),
  })
  .meta({ id: 'ImportRowError' });

/** Whether row errors come with their rows. */
export const ImportReportQuery = z.object({
  includeCells: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true` adds the columns of the file, and to row errors the cells of their rows' }),
});

export const ImportReportResponse = z
  .object({
    importJobId: Id,
    finalStatus: z.enum(ImportJobStatus),
    totalRows: z.int(),
    succeededRows: z.int(),
    failedRows: z.int(),
    skippedRows: z.int(),
    insertedRows: z.int(),
    updatedRows: z.int(),
    duration: z
      .string()
      .meta({ format: 'duration', description: 'ISO 8601 duration', examples: ['PT12.345S'] }),
    rowErrors: z.array(ImportRowError).max(REPORT_ROW_ERRORS_MAX),
    headers: z
      .array(z.string())
      .optional()
      .meta({ description: 'The columns of the file, in the order of the cells' }),
    errorMessage: z
      .string()
      .nullable()
      .meta({ description: 'Why the job failed as a whole, such as a file that cannot be read to its end' }),
  })
  .meta({ id: 'ImportReportResponse' });

/** A job as operators see it, of any tenant: how it is, not what is in it. */
export const ExchangeJob = z
  .object({
    kind: z.enum(['import', 'export', 'undo']),
    id: Id.meta({ description: 'Of an undo: that of its import' }),
    tenantId: Id,
    definitionName: z.string(),
    status: z.string(),
    rowsDone: z.int(),
    rowsFailed: z.int(),
    createdAt: Timestamp,
    completedAt: Timestamp.nullable(),
    progressAt: Timestamp.nullable().meta({ description: 'When it last said that it works' }),
    errorMessage: z.string().nullable(),
  })
  .meta({ id: 'ExchangeJob' });

/** Why the undo of an import left a row as it is. */
export const KeptRowReason = {
  ChangedSince: 'ChangedSince',
  DeletedSince: 'DeletedSince',
  InUse: 'InUse',
  Conflict: 'Conflict',
  Refused: 'Refused',
} as const;
export type KeptRowReason = (typeof KeptRowReason)[keyof typeof KeptRowReason];

export const ImportKeptRow = z
  .object({
    rowNumber: z.int().nullable().meta({ description: 'Number of the record in the file; the header is 1' }),
    key: z.string().meta({ description: 'What the row is known by', examples: ['Shop, fr, title'] }),
    reason: z.enum(KeptRowReason).meta({
      description:
        'Somebody changed or deleted the row since, other rows refer to it, its former values break a rule by now, or ' +
        'the caller must not change it',
    }),
  })
  .meta({ id: 'ImportKeptRow' });

export const ImportUndoResponse = z
  .object({
    importJobId: Id,
    status: z.enum(ImportUndoStatus),
    removedRows: z.int().meta({ description: 'Rows that the import had inserted and that are gone now' }),
    restoredRows: z.int().meta({ description: 'Rows that the import had updated and that are as before' }),
    goneRows: z.int().meta({ description: 'Rows that the import had inserted and somebody deleted since' }),
    keptRows: z.int().meta({ description: 'Rows that were left as they are' }),
    kept: z
      .array(ImportKeptRow)
      .max(REPORT_ROW_ERRORS_MAX)
      .meta({ description: 'The first of them, in the order of the file' }),
    requestedBy: z.string(),
    requestedAt: Timestamp,
    completedAt: Timestamp.nullable(),
    errorMessage: z.string().nullable(),
  })
  .meta({ id: 'ImportUndoResponse' });

/** Encodings of text files. Unicode is detected; the others are guessed from the letters that they make. */
export const TextEncoding = {
  Utf8: 'utf-8',
  Utf16Le: 'utf-16le',
  Utf16Be: 'utf-16be',
  Windows1252: 'windows-1252',
  Windows1250: 'windows-1250',
  Windows1251: 'windows-1251',
  Windows1253: 'windows-1253',
  Windows1254: 'windows-1254',
  Iso8859Part2: 'iso-8859-2',
  Iso8859Part15: 'iso-8859-15',
  Macintosh: 'macintosh',
  Koi8R: 'koi8-r',
  ShiftJis: 'shift_jis',
  Gb18030: 'gb18030',
  Big5: 'big5',
  EucKr: 'euc-kr',
} as const;
export type TextEncoding = (typeof TextEncoding)[keyof typeof TextEncoding];

/** In which order a file writes day, month and year; ISO 8601 is always read. */
export const DateOrder = {
  DayMonthYear: 'DayMonthYear',
  MonthDayYear: 'MonthDayYear',
  YearMonthDay: 'YearMonthDay',
} as const;
export type DateOrder = (typeof DateOrder)[keyof typeof DateOrder];

/** Where an order of dates comes from: unambiguous dates of the file, the culture of the caller, or a correction. */
export const DateOrderFrom = { File: 'File', Culture: 'Culture', Caller: 'Caller' } as const;
export type DateOrderFrom = (typeof DateOrderFrom)[keyof typeof DateOrderFrom];

/** What stands before a quote that is part of a quoted cell: another quote, `\`, a NUL, or nothing at all. */
export const QuoteEscape = {
  Doubled: 'Doubled',
  Backslash: 'Backslash',
  Nul: 'Nul',
  None: 'None',
} as const;
export type QuoteEscape = (typeof QuoteEscape)[keyof typeof QuoteEscape];

const findingCodes = Object.keys(formatFindings) as [ImportFormatFinding, ...ImportFormatFinding[]];

/** Something unusual about a file, and why it is read so. */
export const ImportFormatFindings = z.array(z.object({ code: z.enum(findingCodes), detail: z.string() }));

/** The detected format of an uploaded file, with its corrections. */
export const ImportFileFormat = z
  .object({
    kind: z.enum(['csv', 'xlsx']),
    encoding: z
      .string()
      .nullable()
      .meta({ examples: ['utf-8', 'utf-16le', 'windows-1252'] }),
    hasByteOrderMark: z.boolean().nullable(),
    delimiter: z.string().nullable(),
    headerRow: z.int().nullable().meta({
      description:
        'The number of the row with the header; 0 where there is none, null where the preview of a workbook finds it',
    }),
    headerRows: z
      .int()
      .nullable()
      .meta({ description: 'How many rows the header has; their names are joined' }),
    lastRow: z
      .int()
      .nullable()
      .meta({ description: 'The number of the last row that is read; 0 is the end of the file' }),
    quote: z
      .string()
      .nullable()
      .meta({ description: 'What stands around cells', examples: ['"', "'"] }),
    escape: z.enum(QuoteEscape).nullable().meta({ description: 'What stands before a quote inside a cell' }),
    findings: ImportFormatFindings.meta({ description: 'What is unusual, and why the file is read so' }),
    decimalSeparator: z
      .string()
      .nullable()
      .meta({ description: '`.` or `,`; null for a workbook, whose numbers are typed' }),
    dateOrder: z.enum(DateOrder).nullable().meta({ description: 'Null where only ISO 8601 is read' }),
    dateOrderFrom: z.enum(DateOrderFrom).nullable(),
    sheets: z.array(z.string()).nullable().meta({ description: 'Of a workbook, in their order' }),
    sheet: z
      .string()
      .nullable()
      .meta({ description: 'The sheet that is read unless a request names another' }),
  })
  .meta({ id: 'ImportFileFormat' });

const SHEET_NAME_LENGTH_MAX = 100;
/** A header stands in the first piece of its file that is read. */
const HEADER_ROW_MAX = 1_000;
const HEADER_ROWS_MAX = 5;

/** The corrections of a detected format; what is left out stays as it is. */
export const CorrectImportFormatRequest = z
  .object({
    encoding: z.enum(TextEncoding).nullish(),
    delimiter: z
      .string()
      .regex(/^[^"\r\n\p{L}\p{N}]$/u)
      .nullish()
      .meta({ description: 'One character that is no letter, digit, quote or line end', examples: [';'] }),
    headerRow: z
      .int()
      .min(0)
      .max(HEADER_ROW_MAX)
      .nullish()
      .meta({ description: 'The number of the row with the header; 0 where there is none' }),
    headerRows: z
      .int()
      .min(1)
      .max(HEADER_ROWS_MAX)
      .nullish()
      .meta({ description: 'How many rows the header has' }),
    lastRow: z
      .int()
      .min(0)
      .nullish()
      .meta({ description: 'The number of the last row that is read; 0 is the end of the file' }),
    quote: z.enum({ Double: '"', Single: "'" }).nullish(),
    escape: z.enum(QuoteEscape).nullish(),
    decimalSeparator: z.enum({ Dot: '.', Comma: ',' }).nullish(),
    dateOrder: z.enum(DateOrder).nullish(),
    sheet: z.string().max(SHEET_NAME_LENGTH_MAX).nullish(),
  })
  .meta({ id: 'CorrectImportFormatRequest' });

/** The progress of a running job, as server-sent events report it. */
export const ExchangeProgress = z
  .object({
    status: z.string(),
    phase: z.enum(ExportPhase).optional().meta({ description: 'Of an export that is `Exporting`' }),
    rowsDone: z.int(),
    rowsFailed: z.int(),
    rowsPerSecond: z.number(),
    estimatedEndAt: Timestamp.nullable(),
  })
  .meta({ id: 'ExchangeProgress' });
