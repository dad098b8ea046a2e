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
/** A report counts so many errors into groups, and lists so many groups. */
export const REPORT_GROUPED_ERRORS_MAX = 100_000;
export const REPORT_ERROR_GROUPS_MAX = 100;
export const COLUMNS_MAX = 1_000;
export const SELECTED_FIELDS_MAX = 500;
/** Of one user and definition. */
export const PRESETS_MAX = 200;
/** Of the filters of these, which are listed together. */
export const PRESET_BYTES_MAX = 1024 * 1024;
const NAME_LENGTH_MAX = 200;

export const DefinitionName = text(NAME_LENGTH_MAX)
  .min(1)
  .meta({ examples: ['Localization.Overrides'] });
export const PresetName = text(NAME_LENGTH_MAX, 1);
const SelectedFields = z
  .array(z.string().max(NAME_LENGTH_MAX))
  .refine((fields) => fields.length <= SELECTED_FIELDS_MAX, {
    message: `At most ${SELECTED_FIELDS_MAX} fields can be selected.`,
    params: { rule: 'MaximumLength' },
  });
/** The first value that is no text is enough: to look for all of very many would take a second. */
const TextByName = z
  .record(z.string(), z.unknown())
  .superRefine((values, context) => {
    const wrong = Object.keys(values).find((name) => typeof values[name] !== 'string');
    if (wrong === undefined) return;
    const input = values[wrong];
    context.addIssue({ code: 'invalid_type', expected: 'string', input, path: [wrong] });
  })
  .meta({ additionalProperties: { type: 'string' } }) as unknown as z.ZodType<Record<string, string>>;
/** Many more than an export can have filters or presets, in either spelling of each. */
const NAMES_MAX = 1_000;
/** In a request: of very many names none is looked at, which would take a third of a second. */
const RequestedTextByName = z.preprocess((values, context) => {
  const isObject = typeof values === 'object' && values !== null && !Array.isArray(values);
  if (!isObject || Object.keys(values).length <= NAMES_MAX) return values;
  const message = `At most ${NAMES_MAX} names can be given.`;
  context.addIssue({ code: 'custom', message, params: { rule: 'MaximumLength' } });
  return z.NEVER;
}, TextByName);

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
    isAutoGenerated: z
      .boolean()
      .meta({ description: 'False: a service has declared it, as every definition of the platform' }),
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
    filter: RequestedTextByName.nullish().meta({
      description: 'As in list queries: `{"cultureName.eq": "fr"}` or `{"filter[cultureName.eq]": "fr"}`',
    }),
    presets: RequestedTextByName.nullish(),
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
    filter: RequestedTextByName.nullish()
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
    entityTypeName: z
      .string()
      .nullable()
      .meta({ description: 'Of what its rows are; null for uploads of versions that did not store it' }),
    originalFileName: z.string(),
    mimeType: z.string(),
    fileSizeBytes: z.int(),
    status: z.enum(ImportJobStatus),
    createdAt: Timestamp,
    completedAt: Timestamp.nullable(),
    modifiedAt: Timestamp.nullable().meta({
      description: 'When somebody last changed it: format, mappings, execution, cancellation',
    }),
    modifiedBy: z.string().nullable(),
    concurrencyStamp: z.string().meta({
      description:
        'Another one after each of these changes; in quotes it is the tag that `If-Match` of mappings and execution can name',
    }),
    undoStatus: z
      .enum(ImportUndoStatus)
      .nullable()
      .meta({ description: 'How far its undo is; null where nobody asked for one' }),
    undoableUntil: Timestamp.nullable().meta({
      description:
        'Until when an undo of it can be asked for, where its definition can undo imports; null before its end, where it never ran, where it is undone already, but for rows that it was refused, and when that time is over',
    }),
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
    headerRows: z.int().meta({ description: 'How many rows the header has; their names are joined' }),
    lastRow: z
      .int()
      .meta({ description: 'The number of the last row that is read; 0 is the end of the file' }),
    previewRows: z.array(z.array(z.string())).meta({
      description:
        'The first rows, at most 20 of 1,000,000 characters together; long cells are cut after 1,000',
    }),
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
    concurrencyStamp: z
      .string()
      .max(100)
      .nullish()
      .meta({ description: 'Of the job as it was read: where it was changed since, this is 409' }),
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
    concurrencyStamp: z
      .string()
      .meta({ description: 'That of the job; in quotes it is the tag for `If-Match`' }),
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

/** Rows that have the same thing wrong with them. */
export const ImportErrorGroup = z
  .object({
    kind: z.enum(ImportRowErrorKind),
    column: z.string().nullable().meta({ description: 'Null where rows as a whole are meant' }),
    code: z.string(),
    message: z.string().meta({ description: 'Of the first of these errors' }),
    count: z.int(),
  })
  .meta({ id: 'ImportErrorGroup' });

/** Whether row errors come with their rows, and counted in groups. */
export const ImportReportQuery = z.object({
  includeCells: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true` adds the columns of the file, and to row errors the cells of their rows' }),
  includeGroups: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true` adds how often each error occurs in all failed rows' }),
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
    // Not the format `duration` of JSON Schema: that has no fractions of a second.
    duration: z
      .string()
      .regex(/^PT(\d+H)?(\d+M)?\d+(\.\d+)?S$/)
      .meta({ description: 'ISO 8601 duration', examples: ['PT12.345S'] }),
    rowErrors: z.array(ImportRowError).max(REPORT_ROW_ERRORS_MAX),
    headers: z
      .array(z.string())
      .optional()
      .meta({ description: 'The columns of the file, in the order of the cells' }),
    errorGroups: z.array(ImportErrorGroup).max(REPORT_ERROR_GROUPS_MAX).optional().meta({
      description:
        'What is wrong with the failed rows, the most frequent first, where `includeGroups` asks for it',
    }),
    groupedRows: z
      .int()
      .optional()
      .meta({
        description: `How many failed rows the groups count: all of them, or the first, with ${REPORT_GROUPED_ERRORS_MAX} errors together`,
      }),
    errorMessage: z.string().nullable().meta({
      description:
        'Why the job failed as a whole, such as a file that cannot be read to its end; of a completed one that its rows could not be counted',
    }),
  })
  .meta({ id: 'ImportReportResponse' });

export const ExchangeJobKind = { Import: 'Import', Export: 'Export', Undo: 'Undo' } as const;
export type ExchangeJobKind = (typeof ExchangeJobKind)[keyof typeof ExchangeJobKind];

/** A job as operators see it, of any tenant: how it is, not what is in it. */
export const ExchangeJob = z
  .object({
    kind: z.enum(ExchangeJobKind),
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
    headerRows: z.int().nullable().meta({
      description:
        'How many rows the header has; their names are joined. Null where the preview of a workbook finds it',
    }),
    lastRow: z.int().nullable().meta({
      description:
        'The number of the last row that is read; 0 is the end of the file, null where the preview of a workbook finds it',
    }),
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

/**
 * Characters of Latin-1 that are no letters, digits, quotes or line ends, as the content of a character class: others are
 * accepted too, and the patterns of some languages do not know what a letter is.
 */
const DELIMITERS =
  '\\u0001-\\t\\u000b\\u000c\\u000e-!#-/:-@\\[-`{-\\u00a9\\u00ab-\\u00b1\\u00b4\\u00b6-\\u00b8\\u00bb\\u00bf\\u00d7\\u00f7';

/** The corrections of a detected format; what is left out stays as it is. */
export const CorrectImportFormatRequest = z
  .object({
    encoding: z.enum(TextEncoding).nullish(),
    delimiter: z
      .string()
      .regex(/^[^"\r\n\p{L}\p{N}]$/u)
      .meta({ pattern: `^[${DELIMITERS}]$` })
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
      .min(0)
      .max(HEADER_ROWS_MAX)
      .nullish()
      .meta({ description: 'How many rows the header has; 0, as a `headerRow` of 0, where there is none' }),
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
