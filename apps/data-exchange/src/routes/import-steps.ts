import type { Api } from '@plinth/conventions/api';
import { accepted, noContent, slow } from '@plinth/conventions/reply';
import {
  confirmImportMappings,
  dryRunImport,
  executeImport,
  previewImport,
} from '@plinth/contracts/data-exchange/endpoints';
import type { ImportOptions as Options } from '@plinth/contracts/data-exchange/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { z } from 'zod';
import type { Deps } from '../compose';
import { actorOf, clrTypeName, importableFields, requirePermission } from '../domain/definition';
import { inWordsOf } from '../domain/failed-row';
import { requireState, type ImportStep } from '../domain/import-job';
import { confirmMappings, headerHash, suggestMappings } from '../domain/mapping';
import { definitionNotFound } from '../domain/problems';
import type { FileRows } from '../formats/read-csv';
import { dryRun } from '../jobs/dry-run';
import { withDefaults } from '../jobs/import-plan';
import { openRows } from '../jobs/open-rows';
import type { ImportOptions } from '../store/import-store';
import { toImportResponse, toReport } from './import-response';

type Needs = Pick<Deps, 'owners' | 'imports' | 'blobs' | 'starter' | 'clock' | 'rowTexts'>;

const PREVIEW_ROWS = 20;

export function mountImportSteps(
  api: Api,
  { owners, imports, blobs, starter, clock, rowTexts }: Needs,
): void {
  /** The job and its definition, for a caller who may do this step now. */
  const prepare = async (caller: Caller, jobId: string, step: ImportStep) => {
    const job = await imports.get(caller.tenantId, jobId);
    requirePermission(caller, job.permission);
    requireState(step, job.status);
    const definition = await owners.find(job.definitionName);
    if (!definition) throw definitionNotFound(job.definitionName);
    return { job, definition };
  };

  api.on(previewImport, async ({ params, query, caller }) => {
    const { job, definition } = await prepare(caller, params.jobId, 'preview');
    const fields = importableFields(definition);
    const file = await openRows(job, blobs, query.sheet);
    const previewRows = await firstRows(file, PREVIEW_ROWS);
    const { headers } = file;
    const saved = await imports.savedMapping(caller.tenantId, definition.name, headerHash(headers));
    // Silences, row 68: a preview in Mapped stays Mapped.
    const status = job.status === 'Created' ? { status: 'Previewed' } : {};
    await imports.advance(caller.tenantId, job.id, 'preview', { ...status, headers });
    return {
      headers,
      previewRows,
      suggestions: suggestMappings(headers, fields, saved),
      fieldMetadata: fields.map((field) => ({
        propertyPath: field.propertyPath,
        clrTypeName: clrTypeName(field),
        displayName: field.header,
        description: field.description || null,
        isRequired: field.required,
      })),
    };
  });

  api.on(confirmImportMappings, async ({ params, caller, body }) => {
    const job = await imports.get(caller.tenantId, params.jobId);
    requireState('confirm mappings', job.status);
    const definition = await owners.find(job.definitionName);
    if (!definition) throw definitionNotFound(job.definitionName);
    const headers = job.headers ?? [];
    const mappings = confirmMappings(body.mappings, headers, importableFields(definition));
    await imports.advance(caller.tenantId, job.id, 'confirm mappings', {
      status: 'Mapped',
      mappings: mappings as object[],
    });
    if (body.saveForReuse)
      await imports.saveMapping(caller.tenantId, definition.name, headerHash(headers), mappings);
    return noContent();
  });

  api.on(dryRunImport, async ({ params, caller, body, request, signal }) => {
    const { job, definition } = await prepare(caller, params.jobId, 'dry-run');
    const began = performance.now();
    const options = readOptions(body);
    const report = async () => {
      const texts = await rowTexts.of(caller, request);
      const run = await dryRun({ job, definition, caller, options, owners, blobs, signal });
      const rowErrors = run.rowErrors.map((row) => inWordsOf(row, texts));
      return toReport(job.id, run.status, run.counts, performance.now() - began, rowErrors);
    };
    return slow(report());
  });

  api.on(executeImport, async ({ params, caller, body }) => {
    const earlier = await imports.get(caller.tenantId, params.jobId);
    // Silences, row 14: a repeated operation finds its first effect.
    if (caller.operationId !== undefined && earlier.caller?.operationId === caller.operationId) {
      return accepted(toImportResponse(earlier), `/imports/${earlier.id}`);
    }
    const { job } = await prepare(caller, params.jobId, 'execute');
    await starter.requireReady();
    const started = await imports.advance(caller.tenantId, job.id, 'execute', {
      status: 'Executing',
      options: { ...readOptions(body) },
      caller: { ...actorOf(caller), operationId: caller.operationId ?? null },
      executedAt: clock.now(),
    });
    await starter.startImport(started);
    return accepted(toImportResponse(started), `/imports/${job.id}`);
  });
}

const readOptions = (body: z.output<typeof Options> | null | undefined): ImportOptions =>
  withDefaults({
    ...(body?.mode ? { mode: body.mode } : {}),
    ...(body?.onError ? { onError: body.onError } : {}),
    ...(body?.sheet ? { sheet: body.sheet } : {}),
  });

/** The first rows, each with as many cells as there are columns. */
async function firstRows({ headers, rows }: FileRows, count: number): Promise<string[][]> {
  const first: string[][] = [];
  for await (const piece of rows) {
    first.push(
      ...piece
        .slice(0, count - first.length)
        .map(({ cells }) => headers.map((_, index) => cells[index] ?? '')),
    );
    if (first.length >= count) break;
  }
  return first;
}
