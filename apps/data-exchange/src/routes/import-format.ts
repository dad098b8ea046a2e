import type { Api } from '@plinth/conventions/api';
import { slow } from '@plinth/conventions/reply';
import { correctImportFormat, getImportFormat } from '@plinth/contracts/data-exchange/endpoints';
import type { Deps } from '../compose';
import { requirePermission } from '../domain/definition';
import { requireState } from '../domain/import-job';
import { correctFormat, readsOtherColumns } from '../formats/correct-format';
import type { FileFormat } from '../formats/file-format';

type Needs = Pick<Deps, 'imports' | 'blobs' | 'cultures'>;

export function mountImportFormat(api: Api, { imports, blobs, cultures }: Needs): void {
  api.on(getImportFormat, async ({ params, tenantId }) =>
    toResponse((await imports.get(tenantId, params.jobId)).format),
  );

  api.on(correctImportFormat, async ({ params, body, caller, request }) => {
    const job = await imports.get(caller.tenantId, params.jobId);
    requirePermission(caller, job.permission);
    requireState('correct its format', job.status);
    const correct = async () => {
      const format = await correctFormat(job.format, withoutNulls(body), {
        open: () => blobs.get(job.blobKey),
        cultureOf: () => cultures.of(caller, request),
      });
      const startsOver = readsOtherColumns(job.format, format);
      return toResponse((await imports.correctFormat(job.tenantId, job.id, format, { startsOver })).format);
    };
    return slow(correct());
  });
}

const withoutNulls = <Value extends object>(body: Value) =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as {
    [Key in keyof Value]: Exclude<Value[Key], null>;
  };

const toResponse = (format: FileFormat) => ({
  kind: format.kind,
  dateOrder: format.dateOrder ?? null,
  dateOrderFrom: format.dateOrderFrom ?? null,
  ...(format.kind === 'csv'
    ? {
        encoding: format.encoding,
        hasByteOrderMark: format.hasByteOrderMark,
        delimiter: format.delimiter,
        decimalSeparator: format.decimalSeparator ?? '.',
        sheets: null,
        sheet: null,
      }
    : {
        encoding: null,
        hasByteOrderMark: null,
        delimiter: null,
        decimalSeparator: null,
        sheets: format.sheets ?? null,
        sheet: format.sheet ?? format.sheets?.[0] ?? null,
      }),
});
