import { backgroundTask } from '@plinth/runtime/process/background-task';
import { measurePlaces } from '@plinth/runtime/process/fair-places';
import type { Close } from '@plinth/runtime/process/lifecycle';
import { cleanUp, cleanUpInterruptedFiles } from './app/clean-up';
import type { Deps } from './compose';
import { measureJobs } from './store/job-metrics';

const HOUR_MILLISECONDS = 3_600_000;
/** Nobody waits for what expired to be deleted. */
const SWEEPS_PER_CLEANUP = 12;

/** Starts what runs beside the requests. */
export async function startBackground(deps: Deps, onClose: (close: Close) => void): Promise<void> {
  const { config, log, metrics, db, starter, dryRunPlaces, previewPlaces, workbookPlaces, correctionFiles } =
    deps;
  measurePlaces(metrics, {
    'dry-runs': dryRunPlaces,
    previews: previewPlaces,
    workbooks: workbookPlaces,
    'correction-files': correctionFiles,
  });
  measureJobs(metrics, db);
  const intervalMilliseconds = config.EXCHANGE_SWEEP_SECONDS * 1_000;
  const overdueJobs = { name: 'start of overdue jobs', intervalMilliseconds, log };
  onClose(backgroundTask(() => starter.startOverdueJobs(), overdueJobs).close);
  const expired = { name: 'cleanup', intervalMilliseconds: intervalMilliseconds * SWEEPS_PER_CLEANUP, log };
  onClose(backgroundTask(() => cleanUp(deps), expired).close);
  const interrupted = {
    name: 'cleanup of interrupted files',
    intervalMilliseconds: HOUR_MILLISECONDS,
    log,
  };
  onClose(backgroundTask(() => cleanUpInterruptedFiles(deps), interrupted).close);
}
