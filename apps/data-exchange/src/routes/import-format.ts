import type { IncomingMessage } from 'node:http';
import type { Api } from '@plinth/http/api';
import { slow } from '@plinth/http/response';
import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import type { Caller } from '@plinth/kernel/caller';
import { onCurrentJob } from '../app/on-current-job';
import { toProblem } from '../app/open-rows';
import type { Deps } from '../compose';
import { requireOwnSecrets, requireSight } from '../domain/definition';
import { requireState } from '../domain/import-job';
import { correctFormat, readsOtherColumns } from '../formats/correct-format';
import type { ImportJob } from '../store/import-store';
import { toFindingsResponse } from './import-findings-response';
import { toFormatResponse } from './import-format-response';

const { correctImportFormat, getImportFormat } = dataExchangeEndpoints;

type Needs = Pick<
  Deps,
  'owners' | 'imports' | 'blobs' | 'clock' | 'cultures' | 'messageTexts' | 'previewPlaces'
>;

export function mountImportFormat(
  api: Api,
  { owners, imports, blobs, clock, cultures, messageTexts, previewPlaces }: Needs,
): void {
  const responseOf = async ({ format }: ImportJob, caller: Caller, request: IncomingMessage) => {
    const found = format.kind === 'csv' ? (format.findings ?? []) : [];
    return toFormatResponse(format, await toFindingsResponse(found, messageTexts, caller, request));
  };

  api.on(getImportFormat, async ({ params, caller, request }) => {
    const job = await imports.get(caller.tenantId, params.jobId);
    // The names of its sheets are content of the file.
    requireSight(caller, job);
    return responseOf(job, caller, request);
  });

  api.on(correctImportFormat, async ({ params, body, caller, request, signal }) => {
    const read = async () => {
      const job = await imports.get(caller.tenantId, params.jobId);
      requireSight(caller, job);
      requireState('correct its format', job.status);
      const definition = await owners.find(job.definitionName);
      if (definition) requireOwnSecrets(caller, job, definition);
      return job;
    };
    await read();
    const correct = async () => {
      const job = await read();
      const format = await correctFormat(job.format, withoutNulls(body), {
        open: () => blobs.get(job.blobKey),
        cultureOf: () => cultures.of(caller, request),
      }).catch((error: unknown) => {
        throw toProblem(error);
      });
      const startsOver = readsOtherColumns(job.format, format);
      const change = { by: caller.userId, at: clock.now() };
      const corrected = await imports.correctFormat(job.tenantId, job.id, format, {
        startsOver,
        change,
        from: { version: job.version },
      });
      return responseOf(corrected, caller, request);
    };
    return slow(previewPlaces.run(caller, () => onCurrentJob(correct, read), signal));
  });
}

const withoutNulls = <Value extends object>(body: Value) =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as {
    [Key in keyof Value]: Exclude<Value[Key], null>;
  };
