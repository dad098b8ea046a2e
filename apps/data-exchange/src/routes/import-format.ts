import type { Api } from '@plinth/http/api';
import { slow } from '@plinth/http/response';
import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import type { Deps } from '../compose';
import { requirePermission } from '../domain/definition';
import { requireState } from '../domain/import-job';
import { correctFormat, readsOtherColumns } from '../formats/correct-format';
import { toFormatResponse } from './import-format-response';

const { correctImportFormat, getImportFormat } = dataExchangeEndpoints;

type Needs = Pick<Deps, 'imports' | 'blobs' | 'cultures' | 'previewPlaces'>;

export function mountImportFormat(api: Api, { imports, blobs, cultures, previewPlaces }: Needs): void {
  api.on(getImportFormat, async ({ params, tenantId }) =>
    toFormatResponse((await imports.get(tenantId, params.jobId)).format),
  );

  api.on(correctImportFormat, async ({ params, body, caller, request, signal }) => {
    const job = await imports.get(caller.tenantId, params.jobId);
    requirePermission(caller, job.permission);
    requireState('correct its format', job.status);
    const correct = async () => {
      const format = await correctFormat(job.format, withoutNulls(body), {
        open: () => blobs.get(job.blobKey),
        cultureOf: () => cultures.of(caller, request),
      });
      const startsOver = readsOtherColumns(job.format, format);
      return toFormatResponse(
        (await imports.correctFormat(job.tenantId, job.id, format, { startsOver })).format,
      );
    };
    return slow(previewPlaces.run(caller, correct, signal));
  });
}

const withoutNulls = <Value extends object>(body: Value) =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as {
    [Key in keyof Value]: Exclude<Value[Key], null>;
  };
