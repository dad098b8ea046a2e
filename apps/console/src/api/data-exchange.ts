import { dataExchangeEndpoints, uploadImport } from '@plinth/contracts/data-exchange/endpoints';
import { createClient } from '@plinth/sdk/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { clientOptions } from './platform';
import { pageCount } from './read-again';
import { fetchWithProgress } from './upload';

export const dataExchange = createClient(dataExchangeEndpoints, clientOptions);

type BodyOf<Call extends (...input: never[]) => Promise<{ body: unknown }>> = Awaited<
  ReturnType<Call>
>['body'];
export type ImportJob = BodyOf<typeof dataExchange.getImport>;
export type ImportDefinition = BodyOf<typeof dataExchange.listImportDefinitions>[number];
export type ImportPreview = BodyOf<typeof dataExchange.previewImport> & { etag: string | undefined };
export type ImportMapping = ImportPreview['suggestions'][number];
export type ImportFormat = BodyOf<typeof dataExchange.getImportFormat>;
export type FormatCorrection = NonNullable<Parameters<typeof dataExchange.correctImportFormat>[0]['body']>;
export type ImportOptions = BodyOf<typeof dataExchange.getDraftImportMappings>['options'];
export type ImportReport = BodyOf<typeof dataExchange.getImportReport>;
export type ImportRowError = ImportReport['rowErrors'][number];
export type ImportUndo = BodyOf<typeof dataExchange.getImportUndo>;

interface JobPages {
  pages: readonly { items: readonly { status: string; undoStatus?: string | null }[] }[];
}

const LIST_MILLISECONDS = 3_000;

/** How often to read a list of jobs again: as long as one of them is on its way, and more seldom the more pages it has. */
function whileOneRuns(jobs: JobPages | undefined, running: readonly string[]): number | false {
  const runs = jobs?.pages.some(({ items }) =>
    items.some(({ status, undoStatus }) => running.includes(undoStatus ?? status)),
  );
  return runs ? LIST_MILLISECONDS * pageCount(jobs) : false;
}

export const importsQuery = infiniteQueryOptions({
  queryKey: ['imports'],
  queryFn: async ({ pageParam, signal }) =>
    (await dataExchange.listImports({ list: { cursor: pageParam, pageSize: 30 }, signal })).body,
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) => nextCursor,
  refetchInterval: ({ state }) => whileOneRuns(state.data, ['Executing', 'Undoing']),
});

export const importDefinitionsQuery = queryOptions({
  queryKey: ['import-definitions'],
  queryFn: async ({ signal }) => (await dataExchange.listImportDefinitions({ signal })).body,
  staleTime: 60_000,
});

export const importQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['import', jobId],
    queryFn: async ({ signal }) => (await dataExchange.getImport({ params: { jobId }, signal })).body,
    refetchInterval: ({ state }) => (state.data?.undoStatus === 'Undoing' ? 1_000 : false),
  });

export const importFormatQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['import', jobId, 'format'],
    queryFn: async ({ signal }) => (await dataExchange.getImportFormat({ params: { jobId }, signal })).body,
  });

export const importPreviewQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['import', jobId, 'preview'],
    queryFn: async ({ signal, client }): Promise<ImportPreview> => {
      const { body, etag } = await dataExchange.previewImport({ params: { jobId }, signal });
      // How a workbook writes dates is found with its preview.
      const { queryKey } = importFormatQuery(jobId);
      const format = client.getQueryData(queryKey);
      if (format && format.kind !== 'csv') void client.invalidateQueries({ queryKey, exact: true });
      return { ...body, etag };
    },
    // Another device may choose columns meanwhile.
    staleTime: 30_000,
  });

export const importOptionsQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['import', jobId, 'options'],
    queryFn: async ({ signal }) =>
      (await dataExchange.getDraftImportMappings({ params: { jobId }, signal })).body.options,
  });

export const importReportQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['import', jobId, 'report'],
    queryFn: async ({ signal }) => {
      const query = { includeCells: 'true', includeGroups: 'true' } as const;
      return (await dataExchange.getImportReport({ params: { jobId }, query, signal })).body;
    },
    staleTime: Infinity,
  });

/** What an undo did so far; for imports that somebody undid. */
export const importUndoQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['import', jobId, 'undo'],
    queryFn: async ({ signal }) => (await dataExchange.getImportUndo({ params: { jobId }, signal })).body,
    refetchInterval: ({ state }) => (state.data?.status === 'Undoing' ? 1_000 : false),
  });

/** Uploads a file; `onProgress` gets the share that was sent. */
export async function upload(
  file: File,
  definitionName: string,
  onProgress: (share: number) => void,
  signal?: AbortSignal,
): Promise<ImportJob> {
  const client = createClient({ uploadImport }, { ...clientOptions, fetch: fetchWithProgress(onProgress) });
  return (await client.uploadImport({ file, fileName: file.name, fields: { definitionName }, signal })).body;
}

export type ExportJob = BodyOf<typeof dataExchange.getExportJob>;
export type ExportDefinition = BodyOf<typeof dataExchange.listExportDefinitions>[number];
export type ExportField = BodyOf<typeof dataExchange.listExportFields>[number];
export type ExportPreset = BodyOf<typeof dataExchange.listExportPresets>[number];

export const exportsQuery = infiniteQueryOptions({
  queryKey: ['exports'],
  queryFn: async ({ pageParam, signal }) =>
    (await dataExchange.listExportJobs({ list: { cursor: pageParam, pageSize: 30 }, signal })).body,
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) => nextCursor,
  refetchInterval: ({ state }) => whileOneRuns(state.data, ['Queued', 'Exporting']),
});

export const exportQuery = (jobId: string) =>
  queryOptions({
    queryKey: ['export', jobId],
    queryFn: async ({ signal }) => (await dataExchange.getExportJob({ params: { jobId }, signal })).body,
  });

export const exportDefinitionsQuery = queryOptions({
  queryKey: ['export-definitions'],
  queryFn: async ({ signal }) => (await dataExchange.listExportDefinitions({ signal })).body,
  staleTime: 60_000,
});

export const exportFieldsQuery = (name: string) =>
  queryOptions({
    queryKey: ['export-fields', name],
    queryFn: async ({ signal }) => (await dataExchange.listExportFields({ params: { name }, signal })).body,
    staleTime: 60_000,
  });

export const exportPresetsQuery = (name: string) =>
  queryOptions({
    queryKey: ['export-presets', name],
    queryFn: async ({ signal }) => (await dataExchange.listExportPresets({ params: { name }, signal })).body,
  });
