import type { Job, JobProgress } from '@plinth/sdk/jobs';
import { progressLine, type Terminal } from './terminal';

/** Waits until a job has ended, and shows its progress meanwhile. Returns its last state. */
export async function waitForJob<State>(
  job: Pick<Job<State>, 'wait'>,
  terminal: Pick<Terminal, 'progress' | 'endProgress'>,
): Promise<State> {
  const last = await job.wait({ onProgress: (progress) => terminal.progress(lineOf(progress)) });
  terminal.endProgress();
  return last;
}

function lineOf({ phase, rowsDone, rowsFailed, rowsPerSecond, estimatedEndAt }: JobProgress): string {
  const secondsLeft =
    estimatedEndAt === null ? undefined : Math.max(0, (Date.parse(estimatedEndAt) - Date.now()) / 1_000);
  const line = progressLine(rowsDone, rowsFailed, rowsPerSecond, secondsLeft);
  return phase === 'FinishingFile' ? `${line}, finishing the file` : line;
}
