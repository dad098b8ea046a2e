import type { ListRules } from '@plinth/kernel/list-query';
import { pagedResult } from '@plinth/kernel/paged-result';
import { z } from 'zod';
import { endpoint, permission } from '../endpoint';
import { Id } from '../schemas';
import {
  ConfirmImportMappingsRequest,
  DraftImportMappingsRequest,
  DraftImportMappingsResponse,
  CorrectImportFormatRequest,
  CreateExportJobRequest,
  DefinitionName,
  ExchangeJob,
  ExchangeJobKind,
  ExportDefinitionResponse,
  ExportFieldDescriptor,
  ExportJobResponse,
  ExportJobStatus,
  ExportPresetResponse,
  ImportDefinitionResponse,
  ImportFileFormat,
  ImportJobResponse,
  ImportJobStatus,
  ImportOptions,
  ImportPreviewResponse,
  ImportReportQuery,
  ImportReportResponse,
  ImportUndoResponse,
  ImportUndoStatus,
  PRESETS_MAX,
  PresetName,
  SaveExportPresetRequest,
} from './shapes';

const readExports = permission('DataExchange.Exports.Read');
const executeExports = permission('DataExchange.Exports.Execute');
const readImports = permission('DataExchange.Imports.Read');
const executeImports = permission('DataExchange.Imports.Execute');

const byDefinition = z.object({ name: DefinitionName });
const byJob = z.object({ jobId: Id });

/** The media types of files, beside `application/octet-stream`. */
export const fileTypes = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  json: 'application/x-ndjson',
} as const;

const jobRules = (statuses: Record<string, string>, more: ListRules['filterable']): ListRules => ({
  filterable: {
    definitionName: { type: 'string' },
    status: { type: 'enum', values: statuses },
    createdAt: { type: 'timestamp' },
    completedAt: { type: 'timestamp' },
    ...more,
  },
  shortFilters: ['status'],
  sortable: ['createdAt'],
  defaultSort: '-createdAt',
  searchable: [],
  cursor: true,
});

export const listExportDefinitions = endpoint({
  method: 'GET',
  path: '/exports/definitions',
  summary: 'Read what can be exported, and in which formats',
  access: readExports,
  success: { status: 200, body: z.array(ExportDefinitionResponse) },
  cache: 'query-metadata',
  etag: true,
});

export const listExportFields = endpoint({
  method: 'GET',
  path: '/exports/definitions/:name/fields',
  summary: 'Read the fields of a definition, in the order of their columns',
  access: readExports,
  params: byDefinition,
  success: { status: 200, body: z.array(ExportFieldDescriptor) },
  problems: ['exchange-definition-not-found'],
  cache: 'query-metadata',
  etag: true,
});

export const listExportJobs = endpoint({
  method: 'GET',
  path: '/exports/jobs',
  summary: 'List the export jobs of the tenant',
  access: readExports,
  list: jobRules(ExportJobStatus, {
    format: { type: 'enum', values: { csv: 'csv', xlsx: 'xlsx', json: 'json' } },
  }),
  success: { status: 200, body: pagedResult(ExportJobResponse) },
  cache: 'list',
});

export const createExportJob = endpoint({
  method: 'POST',
  path: '/exports/jobs',
  summary: 'Start an export',
  description:
    'The rows are written as they are when the job starts. `sort`, `filter`, `presets` and `search` follow the rules of ' +
    'list queries. Read the job until it is `Completed`, then download the file.',
  access: executeExports,
  body: CreateExportJobRequest,
  success: { status: 202, body: ExportJobResponse },
  rateLimitClass: 'expensive',
});

export const getExportJob = endpoint({
  method: 'GET',
  path: '/exports/jobs/:jobId',
  summary: 'Read how far an export is',
  access: readExports,
  params: byJob,
  success: { status: 200, body: ExportJobResponse },
  problems: ['export-job-not-found'],
  cache: 'user-data',
  etag: true,
});

export const cancelExportJob = endpoint({
  method: 'DELETE',
  path: '/exports/jobs/:jobId',
  summary: 'Cancel an export; the job ends as failed and says so',
  access: executeExports,
  params: byJob,
  success: { status: 204 },
  problems: ['export-job-not-found', 'export-already-ended'],
});

export const watchExportJob = endpoint({
  method: 'GET',
  path: '/exports/jobs/:jobId/events',
  summary: 'Follow an export: status, rows done, rate and estimated end, until it ends',
  access: readExports,
  params: byJob,
  success: { status: 200, events: true },
  problems: ['export-job-not-found'],
  cache: 'none',
});

export const downloadExport = endpoint({
  method: 'GET',
  path: '/exports/jobs/:jobId/download',
  summary: 'Download the file of a completed export',
  access: readExports,
  params: byJob,
  success: { status: 200, file: [fileTypes.csv, fileTypes.xlsx, fileTypes.json] },
  problems: ['export-job-not-found', 'export-not-ready', 'export-expired'],
  cache: 'none',
  etag: true,
  ranges: true,
});

export const listExportPresets = endpoint({
  method: 'GET',
  path: '/exports/presets/:name',
  summary: 'Read your presets of a definition',
  access: readExports,
  params: byDefinition,
  success: { status: 200, body: z.array(ExportPresetResponse).max(PRESETS_MAX) },
  problems: ['exchange-definition-not-found'],
  cache: 'user-data',
  etag: true,
});

export const saveExportPreset = endpoint({
  method: 'POST',
  path: '/exports/presets',
  summary: 'Save or replace one of your presets',
  access: executeExports,
  body: SaveExportPresetRequest,
  success: { status: 201, body: ExportPresetResponse },
  alternatives: [{ status: 204, description: 'The preset was there and is replaced' }],
  problems: ['quota-exceeded'],
});

export const deleteExportPreset = endpoint({
  method: 'DELETE',
  path: '/exports/presets/:name/:preset',
  summary: 'Delete one of your presets',
  access: executeExports,
  params: z.object({ name: DefinitionName, preset: PresetName }),
  success: { status: 204 },
  problems: ['exchange-definition-not-found', 'export-preset-not-found'],
});

export const listImportDefinitions = endpoint({
  method: 'GET',
  path: '/imports/definitions',
  summary: 'Read what this caller may import, and the fields that columns of a file can be mapped to',
  access: readImports,
  success: { status: 200, body: z.array(ImportDefinitionResponse) },
  cache: 'user-data',
  etag: true,
});

export const listImports = endpoint({
  method: 'GET',
  path: '/imports',
  aliases: ['/imports/jobs'],
  summary: 'List the import jobs of the tenant',
  access: readImports,
  list: jobRules(ImportJobStatus, { originalFileName: { type: 'string' } }),
  success: { status: 200, body: pagedResult(ImportJobResponse) },
  cache: 'list',
});

export const uploadImport = endpoint({
  method: 'POST',
  path: '/imports',
  summary: 'Upload a file to import',
  description: 'Multipart with the parts `file` and `definitionName`, in any order.',
  access: executeImports,
  upload: true,
  uploadFields: z.object({ definitionName: DefinitionName }),
  success: { status: 201, body: ImportJobResponse },
  problems: ['import-file-unsupported', 'import-file-too-large'],
  rateLimitClass: 'expensive',
});

export const getImport = endpoint({
  method: 'GET',
  path: '/imports/:jobId',
  summary: 'Read how far an import is',
  access: readImports,
  params: byJob,
  success: { status: 200, body: ImportJobResponse },
  problems: ['import-job-not-found'],
  cache: 'user-data',
  etag: true,
});

export const cancelImport = endpoint({
  method: 'DELETE',
  path: '/imports/:jobId',
  summary: 'Cancel an import',
  description:
    'Before it executes, the file is deleted. While it executes, rows that are committed stay and are counted in the report.',
  access: executeImports,
  params: byJob,
  success: { status: 204 },
  problems: ['import-job-not-found', 'import-in-wrong-state'],
});

export const getImportFormat = endpoint({
  method: 'GET',
  path: '/imports/:jobId/format',
  summary:
    'Read what was found out about the file: encoding, delimiter, how numbers and dates are written, sheets',
  access: readImports,
  params: byJob,
  success: { status: 200, body: ImportFileFormat },
  problems: ['import-job-not-found'],
  cache: 'user-data',
  etag: true,
});

export const correctImportFormat = endpoint({
  method: 'PUT',
  path: '/imports/:jobId/format',
  summary: 'Correct what was found out about the file',
  description:
    'Preview and everything after it read the file so. Where its columns are read otherwise than before, the job is ' +
    '`Created` again. What the file contradicts is 422.',
  access: executeImports,
  params: byJob,
  body: CorrectImportFormatRequest,
  success: { status: 200, body: ImportFileFormat },
  problems: ['import-job-not-found', 'import-in-wrong-state', 'import-file-unreadable', 'stale-version'],
});

export const previewImport = endpoint({
  method: 'POST',
  path: '/imports/:jobId/preview',
  summary: 'Read the first rows, and which columns probably are which properties',
  access: executeImports,
  params: byJob,
  query: z.object({
    sheet: z.string().max(100).optional().meta({ description: 'Name of the sheet of a workbook' }),
  }),
  body: z.looseObject({}).nullish(),
  success: { status: 200, body: ImportPreviewResponse },
  problems: ['import-job-not-found', 'import-in-wrong-state', 'import-file-unreadable', 'stale-version'],
  repeatable: true,
  rateLimitClass: 'expensive',
  etag: true,
});

export const draftImportMappings = endpoint({
  method: 'PUT',
  path: '/imports/:jobId/draft-mappings',
  summary: 'Keep which column is meant to be which property, and how to import, until that is confirmed',
  description:
    'Whoever goes on with the job finds the mappings in `suggestions` of the preview. They may lack required properties ' +
    'and may name a property twice; columns that they leave out keep their suggestion. With mappings, a job that was ' +
    '`Mapped` is `Previewed` again; with `options` alone it stays as it is. What is left out is kept as it was. Nothing ' +
    'is executed with these options unless they are sent again.',
  access: executeImports,
  params: byJob,
  body: DraftImportMappingsRequest,
  success: { status: 204 },
  problems: ['import-job-not-found', 'import-in-wrong-state'],
  etag: true,
  ifMatch: true,
});

export const getDraftImportMappings = endpoint({
  method: 'GET',
  path: '/imports/:jobId/draft-mappings',
  summary: 'Read what somebody chose who did not execute the import yet',
  access: readImports,
  params: byJob,
  success: { status: 200, body: DraftImportMappingsResponse },
  problems: ['import-job-not-found'],
  cache: 'user-data',
  etag: true,
});

export const confirmImportMappings = endpoint({
  method: 'PUT',
  path: '/imports/:jobId/mappings',
  summary: 'Confirm which column is which property',
  description:
    '`If-Match` with the tag of the preview confirms what was seen, and nothing that was changed since.',
  access: executeImports,
  params: byJob,
  body: ConfirmImportMappingsRequest,
  success: { status: 204 },
  problems: ['import-job-not-found', 'import-in-wrong-state'],
  etag: true,
  ifMatch: true,
});

export const dryRunImport = endpoint({
  method: 'POST',
  path: '/imports/:jobId/dry-run',
  summary: 'Learn what an execution would do, without changing anything',
  access: executeImports,
  params: byJob,
  query: ImportReportQuery,
  body: ImportOptions.nullish(),
  success: { status: 200, body: ImportReportResponse },
  problems: ['import-job-not-found', 'import-in-wrong-state', 'import-file-unreadable'],
  repeatable: true,
  rateLimitClass: 'expensive',
  etag: true,
});

export const executeImport = endpoint({
  method: 'POST',
  path: '/imports/:jobId/execute',
  summary: 'Import the rows',
  description:
    '`If-Match` with the tag of the dry-run, or of the confirmed mappings, imports what was checked, and nothing that was ' +
    'mapped since.',
  access: executeImports,
  params: byJob,
  body: ImportOptions.nullish(),
  success: { status: 202, body: ImportJobResponse },
  problems: ['import-job-not-found', 'import-in-wrong-state'],
  rateLimitClass: 'expensive',
  ifMatch: true,
});

export const watchImport = endpoint({
  method: 'GET',
  path: '/imports/:jobId/events',
  summary: 'Follow an import: status, rows done and failed, rate and estimated end, until it ends',
  access: readImports,
  params: byJob,
  success: { status: 200, events: true },
  problems: ['import-job-not-found'],
  cache: 'none',
});

export const getImportReport = endpoint({
  method: 'GET',
  path: '/imports/:jobId/report',
  summary: 'Read what became of the rows',
  access: readImports,
  params: byJob,
  query: ImportReportQuery,
  success: { status: 200, body: ImportReportResponse },
  problems: ['import-job-not-found', 'import-in-wrong-state'],
  cache: 'user-data',
  etag: true,
});

export const downloadCorrectionFile = endpoint({
  method: 'GET',
  path: '/imports/:jobId/correction-file',
  summary: 'Download the rows that failed, each with its errors, to repair them and upload the file again',
  access: readImports,
  params: byJob,
  success: { status: 200, file: [fileTypes.csv, fileTypes.tsv, fileTypes.xlsx] },
  alternatives: [{ status: 204, description: 'No row failed' }],
  problems: ['import-job-not-found', 'import-in-wrong-state', 'import-rows-expired'],
  cache: 'none',
});

export const undoImport = endpoint({
  method: 'POST',
  path: '/imports/:jobId/undo',
  summary: 'Take back what an import did',
  description:
    'Within 7 days of its end, however it ended: rows that it inserted are removed, rows that it updated get their former ' +
    'values. Rows that somebody changed since are kept and listed.',
  access: executeImports,
  params: byJob,
  body: z.looseObject({}).nullish(),
  success: { status: 202, body: ImportUndoResponse },
  problems: [
    'import-job-not-found',
    'import-in-wrong-state',
    'import-not-undoable',
    'import-already-undone',
    'import-undo-expired',
  ],
  rateLimitClass: 'expensive',
});

export const getImportUndo = endpoint({
  method: 'GET',
  path: '/imports/:jobId/undo',
  summary: 'Read what became of the rows of an import that is undone',
  access: readImports,
  params: byJob,
  success: { status: 200, body: ImportUndoResponse },
  problems: ['import-job-not-found', 'import-not-undone'],
  cache: 'user-data',
  etag: true,
});

export const watchImportUndo = endpoint({
  method: 'GET',
  path: '/imports/:jobId/undo/events',
  summary: 'Follow the undo of an import: status, rows done and kept, rate and estimated end, until it ends',
  access: readImports,
  params: byJob,
  success: { status: 200, events: true },
  problems: ['import-job-not-found', 'import-not-undone'],
  cache: 'none',
});

export const listJobsOfAllTenants = endpoint({
  method: 'GET',
  path: '/exchange-jobs',
  summary: 'List the imports, exports and undos of imports of all tenants',
  description: 'For the operators of the platform: how the jobs are, not what is in their files.',
  access: permission('Platform.Operations.Read', { hostOnly: true }),
  list: {
    filterable: {
      kind: { type: 'enum', values: ExchangeJobKind },
      status: { type: 'enum', values: { ...ExportJobStatus, ...ImportJobStatus, ...ImportUndoStatus } },
      tenantId: { type: 'uuid' },
    },
    shortFilters: ['kind', 'status', 'tenantId'],
    sortable: ['createdAt'],
    defaultSort: '-createdAt',
    searchable: [],
    cursor: true,
  },
  success: { status: 200, body: pagedResult(ExchangeJob) },
  cache: 'list',
});

export const dataExchangeEndpoints = {
  listExportDefinitions,
  listExportFields,
  listExportJobs,
  createExportJob,
  getExportJob,
  cancelExportJob,
  watchExportJob,
  downloadExport,
  listExportPresets,
  saveExportPreset,
  deleteExportPreset,
  listImportDefinitions,
  listImports,
  uploadImport,
  getImport,
  cancelImport,
  getImportFormat,
  correctImportFormat,
  previewImport,
  getDraftImportMappings,
  draftImportMappings,
  confirmImportMappings,
  dryRunImport,
  executeImport,
  watchImport,
  getImportReport,
  downloadCorrectionFile,
  undoImport,
  getImportUndo,
  watchImportUndo,
  listJobsOfAllTenants,
};
