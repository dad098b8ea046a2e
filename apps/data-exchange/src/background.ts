import { backgroundTask } from '@plinth/runtime/process/background-task';
import { measurePlaces } from '@plinth/runtime/process/fair-places';
import type { Close } from '@plinth/runtime/process/lifecycle';
import { cleanUp, cleanUpInterruptedFiles } from './app/clean-up';
import type { Deps } from './compose';
import { measureJobs } from './store/job-metrics';
import type { JobStarter } from './temporal/client';

const HOUR_MILLISECONDS = 3_600_000;
/**
 * Starts of jobs are seldom lost with a process that dies, and looking for them is most of what one does at rest. A connection
 * is closed after half a minute without use, and a new one costs more than the look.
 */
const SWEEPS_PER_LOOK = 5;
/** Nobody waits for what expired to be deleted. */
const SWEEPS_PER_CLEANUP = 12;

/** Starts what runs beside the requests. */
export async function startBackground(deps: Deps, onClose: (close: Close) => void): Promise<void> {
  const { config, log, metrics, db, starter } = deps;
  measurePlaces(metrics, {
    'dry-runs': deps.dryRunPlaces,
    previews: deps.previewPlaces,
    workbooks: deps.workbookPlaces,
    'dry-runs-of-workbooks': deps.workbookDryRunPlaces,
    reports: deps.reportPlaces,
    detections: deps.detectionPlaces,
    'correction-files': deps.correctionFiles,
  });
  measureJobs(metrics, db);
  const intervalMilliseconds = config.EXCHANGE_SWEEP_SECONDS * 1_000;
  const overdueJobs = { name: 'start of overdue jobs', intervalMilliseconds, log };
  const sweep = backgroundTask(overdueSweep(starter), overdueJobs);
  onClose(sweep.close);
  // What was lost when this process was killed.
  sweep.wake();
  const expired = { name: 'cleanup', intervalMilliseconds: intervalMilliseconds * SWEEPS_PER_CLEANUP, log };
  onClose(backgroundTask(() => cleanUp(deps), expired).close);
  const interrupted = {
    name: 'cleanup of interrupted files',
    intervalMilliseconds: HOUR_MILLISECONDS,
    log,
  };
  onClose(backgroundTask(() => cleanUpInterruptedFiles(deps), interrupted).close);
}

/** Starts overdue jobs each time while starts, or looks for them, fail here; those that others lost first and then rarely. */
export function overdueSweep(
  starter: Pick<JobStarter, 'startOverdueJobs' | 'hasMoreToStart'>,
): () => Promise<void> {
  let sweeps = 0;
  return async () => {
    if (sweeps % SWEEPS_PER_LOOK === 0 || starter.hasMoreToStart) await starter.startOverdueJobs();
    sweeps++;
  };
}
