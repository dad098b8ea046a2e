import type { Job, JobProgress } from '@plinth/sdk/jobs';
import { progressLine, type Terminal } from './terminal';

/** A job that goes on, and of whose end this command will not hear: whoever started it again would have it twice. */
export class UnwatchedJob extends Error {
  override readonly name = 'UnwatchedJob';

  constructor(kind: string, jobId: string, cause: unknown) {
    super(`The ${kind} ${jobId} goes on without this command; do not start it again.`, { cause });
  }
}

/**
 * Waits until a job has ended, and shows its progress meanwhile. Returns its last state.
 * @throws UnwatchedJob where its progress cannot be followed
 */
export async function waitForJob<State>(
  kind: 'import' | 'export',
  job: Pick<Job<State>, 'id' | 'wait'>,
  terminal: Pick<Terminal, 'progress' | 'endProgress'>,
): Promise<State> {
  try {
    return await job.wait({ onProgress: (progress) => terminal.progress(lineOf(progress)) });
  } catch (error) {
    throw new UnwatchedJob(kind, job.id, error);
  } finally {
    terminal.endProgress();
  }
}

function lineOf({ phase, rowsDone, rowsFailed, rowsPerSecond, estimatedEndAt }: JobProgress): string {
  const secondsLeft =
    estimatedEndAt === null ? undefined : Math.max(0, (Date.parse(estimatedEndAt) - Date.now()) / 1_000);
  const line = progressLine(rowsDone, rowsFailed, rowsPerSecond, secondsLeft);
  return phase === 'FinishingFile' ? `${line}, finishing the file` : line;
}
