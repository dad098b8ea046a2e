import { readInPlatform } from '@plinth/runtime/postgres/postgres';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { JOB_BATCH_SIZE } from './job-records';

/** A job that should run: it was never started, or has been silent for too long. */
export type OverdueJob = { tenantId: string; id: string } & (
  { kind: 'import' | 'export' } | { kind: 'undo'; requestedAt: Date }
);

export interface OverdueJobStore {
  /** Jobs of all tenants that should run: never started, or silent since. */
  list(silentSince: Date): Promise<OverdueJob[]>;
}

/** Tenants take turns: one with as many jobs as are listed does not keep those of others from being started. */
const overdue = (table: string, columns: string, running: string): string =>
  `(SELECT tenant_id AS "tenantId", ${columns} FROM (
      SELECT *, row_number() OVER (PARTITION BY tenant_id ORDER BY started_at NULLS FIRST) AS turn FROM ${table}
      WHERE ${running} AND (started_at IS NULL
        OR started_at < $1 AND (progress_at IS NULL OR progress_at < $1))) AS of_tenants
    ORDER BY turn LIMIT ${JOB_BATCH_SIZE})`;

/** It is asked every few seconds also while nothing runs, so it is one statement in one round trip. */
const OVERDUE = {
  name: 'overdue-jobs',
  text: [
    overdue('import_job', `id, 'import' AS kind, NULL::timestamptz AS "requestedAt"`, `status = 'Executing'`),
    overdue('export_job', `id, 'export', NULL`, `status IN ('Queued', 'Exporting')`),
    overdue('import_undo', `job_id, 'undo', requested_at`, `status = 'Undoing'`),
  ].join(' UNION ALL '),
};

export const overdueJobStore = (pool: FairPool): OverdueJobStore => ({
  list: (silentSince) => readInPlatform<OverdueJob>(pool, { ...OVERDUE, values: [silentSince] }),
});
