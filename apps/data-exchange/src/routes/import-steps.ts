import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import type { ImportOptions as RequestedOptions } from '@plinth/contracts/data-exchange/shapes';
import type { Api } from '@plinth/http/api';
import { accepted, noContent, ok, slow } from '@plinth/http/response';
import type { Caller } from '@plinth/kernel/caller';
import { entityTag, requirePrecondition } from '@plinth/kernel/entity-tag';
import { runUnlessRecorded } from '@plinth/runtime/postgres/run-once';
import type { z } from 'zod';
import { dryRun } from '../app/dry-run';
import { isRetry, retriedOr, starterOf } from '../app/job-starter';
import { onCurrentJob } from '../app/on-current-job';
import { readPreview } from '../app/read-preview';
import { withDefaultOptions } from '../app/send-file';
import type { Deps } from '../compose';
import { importableFields, requireOwnSecrets, requireSight, type Definition } from '../domain/definition';
import { requireState, type ImportStep } from '../domain/import-job';
import { confirmMappings, draftMappings, headerHash, requireMappable } from '../domain/mapping';
import { definitionNotFound } from '../domain/problems';
import { requireRoomForJob } from '../domain/tenant-quota';
import { tagOf, type ImportJob, type ImportOptions } from '../store/import-store';
import { keptBytesOf } from '../store/kept-quota';
import { toFindingsResponse } from './import-findings-response';
import { toPreviewResponse } from './import-preview-response';
import { toReport } from './import-report-response';
import { importResponse } from './import-response';

const {
  confirmImportMappings,
  draftImportMappings,
  dryRunImport,
  executeImport,
  getDraftImportMappings,
  previewImport,
} = dataExchangeEndpoints;

type Needs = Pick<
  Deps,
  | 'config'
  | 'db'
  | 'owners'
  | 'imports'
  | 'savedMappings'
  | 'kept'
  | 'blobs'
  | 'scratch'
  | 'starter'
  | 'clock'
  | 'cultures'
  | 'messageTexts'
  | 'dryRunPlaces'
  | 'previewPlaces'
  | 'workbookPlaces'
  | 'workbookDryRunPlaces'
  | 'turns'
>;

/** These steps read rows as the mappings say, which may be older than the definition. */
const readsRows: ReadonlySet<ImportStep> = new Set(['dry-run', 'execute']);
const namesColumns: ReadonlySet<ImportStep> = new Set(['draft mappings', 'confirm mappings']);

interface Prepared {
  job: ImportJob;
  definition: Definition;
}

export function mountImportSteps(api: Api, deps: Needs): void {
  const { config, db, owners, imports, kept, blobs, scratch, starter, clock, cultures, messageTexts } = deps;
  const { dryRunPlaces, previewPlaces, workbookPlaces, workbookDryRunPlaces, turns } = deps;
  const toImportResponse = importResponse(deps);

  /** The job and its definition, for a caller who may take this step now. */
  const prepare = async (caller: Caller, jobId: string, step: ImportStep): Promise<Prepared> => {
    const job = await imports.get(caller.tenantId, jobId);
    requireSight(caller, job);
    requireState(step, job.status);
    const definition = await owners.find(job.definitionName);
    if (!definition) throw definitionNotFound(job.definitionName);
    if (namesColumns.has(step)) requireOwnSecrets(caller, job, definition);
    if (readsRows.has(step)) requireMappable(job.mappings ?? [], importableFields(definition));
    return { job, definition };
  };

  /**
   * Takes a step that reads the file. A workbook takes a process, of which there are a few: a preview that waits for one has no
   * place of previews meanwhile, and a dry-run that waits for its place has no process.
   */
  const onFile = <Result>(
    { id, format }: ImportJob,
    { caller, step, signal }: { caller: Caller; step: 'preview' | 'dry-run'; signal: AbortSignal },
    take: (prepared: Prepared) => Promise<Result>,
  ): Promise<Result> => {
    const takeOnCurrent = () =>
      onCurrentJob(
        async () => take(await prepare(caller, id, step)),
        () => prepare(caller, id, step),
      );
    const ofStep = step === 'dry-run' ? [dryRunPlaces] : [previewPlaces];
    const ofWorkbook =
      step === 'dry-run' ? [workbookDryRunPlaces, ...ofStep, workbookPlaces] : [workbookPlaces, ...ofStep];
    const places = format.kind === 'xlsx' ? ofWorkbook : ofStep;
    const takeInPlaces = places.reduceRight<() => Promise<Result>>(
      (takeInside, place) => () => place.run(caller, takeInside, signal),
      takeOnCurrent,
    );
    return takeInPlaces();
  };

  const changeBy = ({ userId }: Caller) => ({ by: userId, at: clock.now() });

  api.on(previewImport, async ({ params, query, caller, request, signal }) => {
    const { job: uploaded } = await prepare(caller, params.jobId, 'preview');
    const preview = await onFile(uploaded, { caller, step: 'preview', signal }, ({ job, definition }) =>
      readPreview(deps, job, definition, caller, {
        sheet: query.sheet,
        signal,
        cultureOf: () => cultures.of(caller, request),
      }),
    );
    const findings = await toFindingsResponse(preview.findings, messageTexts, caller, request);
    return ok(toPreviewResponse(preview, findings), { etag: tagOf(preview) });
  });

  api.on(draftImportMappings, async ({ params, caller, body, precondition }) => {
    const keep = async () => {
      const { job, definition } = await prepare(caller, params.jobId, 'draft mappings');
      requirePrecondition(precondition, tagOf(job));
      const mappings =
        body.mappings && draftMappings(body.mappings, job.headers ?? [], importableFields(definition));
      if (mappings && !job.mappings) kept.take(caller.tenantId, keptBytesOf(mappings));
      const data = {
        ...(mappings ? { status: 'Previewed', mappings: mappings as object[] } : {}),
        ...(body.options ? { options: { ...readOptions(body.options) } } : {}),
      };
      // Whoever executes the import says how: options alone change nothing that others were shown.
      const change = mappings && { change: { ...changeBy(caller), operation: caller } };
      return tagOf(
        await imports.advance(caller.tenantId, job.id, 'draft mappings', data, { ...change, from: job }),
      );
    };
    return noContentAt(await runUnlessRecorded(db, caller, () => onCurrentJob(keep)));
  });

  api.on(getDraftImportMappings, async ({ params, caller }) => {
    const job = await imports.get(caller.tenantId, params.jobId);
    // The first row of a file without headers is what its columns are called.
    requireSight(caller, job);
    const { mappings, options, version } = job;
    const { mode, onError } = withDefaultOptions(options);
    return { mappings: mappings ?? [], options: { mode, onError }, concurrencyStamp: String(version) };
  });

  api.on(confirmImportMappings, async ({ params, caller, body, precondition }) => {
    const confirm = async () => {
      const { job, definition } = await prepare(caller, params.jobId, 'confirm mappings');
      requirePrecondition(precondition, tagOf(job));
      if (body.concurrencyStamp != null)
        requirePrecondition({ ifMatch: [entityTag(body.concurrencyStamp)] }, tagOf(job));
      const headers = job.headers ?? [];
      const mappings = confirmMappings(body.mappings, headers, importableFields(definition));
      if (!job.mappings) kept.take(caller.tenantId, keptBytesOf(mappings));
      const change = { ...changeBy(caller), operation: caller };
      const data = { status: 'Mapped', mappings: mappings as object[] };
      const saves = { definitionName: definition.name, headerHash: headerHash(headers), mappings };
      const confirmed = await imports.advance(caller.tenantId, job.id, 'confirm mappings', data, {
        change,
        from: job,
        ...(body.saveForReuse ? { saves } : {}),
      });
      return tagOf(confirmed);
    };
    return noContentAt(await runUnlessRecorded(db, caller, () => onCurrentJob(confirm)));
  });

  api.on(dryRunImport, async ({ params, query, caller, body, request, signal }) => {
    const { job: mapped } = await prepare(caller, params.jobId, 'dry-run');
    const began = performance.now();
    const options = readOptions(body);
    const report = async ({ job, definition }: Prepared) => {
      const texts = await messageTexts.of(caller, request);
      const withCells = query.includeCells === 'true';
      const source = { blobs, scratch };
      const run = await dryRun({
        job,
        definition,
        caller,
        options,
        withCells,
        owners,
        turns,
        signal,
        ...source,
      });
      const described = toReport({
        importJobId: job.id,
        finalStatus: run.status,
        counts: run.counts,
        milliseconds: performance.now() - began,
        failedRows: run.failedRows,
        texts,
        headers: withCells ? run.headers : undefined,
        groups: query.includeGroups === 'true' ? run.groups : undefined,
      });
      return turns.takeEach(caller, described);
    };
    // What is checked is never older than what the tag names.
    return slow(onFile(mapped, { caller, step: 'dry-run', signal }, report), { etag: tagOf(mapped) });
  });

  api.on(executeImport, async ({ params, caller, body, precondition }) => {
    const findStarted = async () => {
      const job = await imports.get(caller.tenantId, params.jobId);
      return job.caller && isRetry(caller, job.caller) ? job : undefined;
    };
    const start = async () => {
      const { job } = await prepare(caller, params.jobId, 'execute');
      requirePrecondition(precondition, tagOf(job));
      kept.requireRoom(caller.tenantId, 1);
      await starter.requireReady();
      const data = {
        status: 'Executing',
        options: { ...readOptions(body) },
        caller: { ...starterOf(caller) },
        executedAt: clock.now(),
      };
      return imports.advance(caller.tenantId, job.id, 'execute', data, {
        change: changeBy(caller),
        from: job,
        requireRoom: (unfinishedJobs) => requireRoomForJob(config, unfinishedJobs),
      });
    };
    const started = await retriedOr(findStarted, async () => {
      const job = await onCurrentJob(start);
      await starter.startImport(job);
      return job;
    });
    return accepted(toImportResponse(started), `/imports/${started.id}`);
  });
}

/** Versions before recorded no tag with an operation. */
const noContentAt = (etag: string | null) => noContent(etag === null ? {} : { etag });

const readOptions = (body: z.output<typeof RequestedOptions> | null | undefined): ImportOptions =>
  withDefaultOptions({
    ...(body?.mode ? { mode: body.mode } : {}),
    ...(body?.onError ? { onError: body.onError } : {}),
    ...(body?.sheet ? { sheet: body.sheet } : {}),
  });
