import type { RawStatements, TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readInTime } from '@plinth/runtime/process/read-in-time';
import { Counter, Gauge, type Registry } from 'prom-client';

const kinds = ['import', 'export', 'undo'] as const;

interface Unfinished {
  kind: (typeof kinds)[number];
  count: number;
  silentSeconds: number;
}

/** Measures, whenever metrics are read, how many jobs are not finished and for how long one of them made no progress. */
export function measureJobs(metrics: Registry, db: TenantDatabase<RawStatements>): void {
  const registers = [metrics];
  const labelNames = ['kind'] as const;
  const unfinished = new Gauge({
    name: 'plinth_jobs_unfinished',
    help: 'Imports, exports and undos of imports that run or wait to run.',
    labelNames,
    registers,
  });
  new Gauge({
    name: 'plinth_jobs_silent_seconds',
    help: 'Longest time for which an unfinished job has made no progress.',
    labelNames,
    registers,
    async collect() {
      const found = await readInTime(() => readUnfinished(db));
      unfinished.reset();
      this.reset();
      if (!found) return;
      for (const kind of kinds) {
        const jobs = found.find((entry) => entry.kind === kind);
        unfinished.set({ kind }, jobs?.count ?? 0);
        this.set({ kind }, jobs?.silentSeconds ?? 0);
      }
    },
  });
}

const readUnfinished = (db: TenantDatabase<RawStatements>): Promise<Unfinished[]> =>
  db.inPlatform((tx) =>
    tx.$queryRawUnsafe<Unfinished[]>(`
      SELECT kind, count(*)::int AS count,
             extract(epoch FROM now() - min(alive_at))::float AS "silentSeconds"
        FROM (SELECT 'import' AS kind, greatest(executed_at, progress_at) AS alive_at
                FROM import_job WHERE status = 'Executing'
              UNION ALL
              SELECT 'export', greatest(created_at, progress_at)
                FROM export_job WHERE status IN ('Queued', 'Exporting')
              UNION ALL
              SELECT 'undo', greatest(requested_at, progress_at)
                FROM import_undo WHERE status = 'Undoing') AS job
       GROUP BY kind`),
  );

/** Makes a function that counts what was removed at the end of its retention. */
export function expiredCounter(metrics: Registry): (kind: string, count: number) => void {
  const expired = new Counter({
    name: 'plinth_exchange_expired_total',
    help: 'Files and rows that were removed at the end of their retention.',
    labelNames: ['kind'],
    registers: [metrics],
  });
  return (kind, count) => expired.inc({ kind }, count);
}
