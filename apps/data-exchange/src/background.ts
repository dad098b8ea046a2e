import { backgroundTask } from '@plinth/runtime/process/background-task';
import { measurePlaces } from '@plinth/runtime/process/fair-places';
import type { Close } from '@plinth/runtime/process/lifecycle';
import { cleanUpFiles } from './app/clean-up-files';
import type { Deps } from './compose';
import { measureJobs } from './store/job-metrics';

/** Starts what runs beside the requests. */
export async function startBackground(deps: Deps, onClose: (close: Close) => void): Promise<void> {
  const { config, log, metrics, db, starter, dryRunPlaces, previewPlaces } = deps;
  measurePlaces(metrics, { 'dry-runs': dryRunPlaces, previews: previewPlaces });
  measureJobs(metrics, db);
  const intervalMilliseconds = config.EXCHANGE_SWEEP_SECONDS * 1_000;
  const overdueJobs = { name: 'start of overdue jobs', intervalMilliseconds, log };
  onClose(backgroundTask(() => starter.startOverdueJobs(), overdueJobs).close);
  const expiredFiles = { name: 'cleanup of files', intervalMilliseconds, log };
  onClose(backgroundTask(() => cleanUpFiles(deps), expiredFiles).close);
}
