import type { ExportPhase } from '@plinth/contracts/data-exchange/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { POLL_MILLISECONDS, type SharedProgress } from './shared-progress';

export interface Progress {
  status: string;
  /** Of an export that runs. */
  phase?: ExportPhase | undefined;
  isFinal: boolean;
  rowsDone: number;
  rowsFailed: number;
  startedAt: Date | null;
  endedAt: Date | null;
  /** The completed share of the work, from 0 to 1; null where it is unknown. */
  share: number | null;
}

interface Watched {
  /** Of the tenant and the job. */
  jobKey: string;
  read: () => Promise<Progress>;
  caller: Caller;
  clock: Clock;
  signal: AbortSignal;
}

/** How long a job without progress is looked at as often as one that makes some; many wait for somebody, or for others. */
const EXPECTED_MILLISECONDS = 10_000;
const POLL_WITHOUT_PROGRESS_MILLISECONDS = 2_500;

/**
 * Sends the progress of a job whenever it changed, until the job ends, the client disconnects, or its credential
 * expires.
 */
export async function* watchProgress(
  shared: SharedProgress,
  { jobKey, read, caller, clock, signal }: Watched,
) {
  const endsAt = caller.credentialExpiresAt ?? Infinity;
  let last = '';
  let changedAt = performance.now();
  for (let id = 1; !signal.aborted && clock.now().getTime() < endsAt;) {
    const progress = await shared.read(jobKey, read);
    const data = describe(progress, clock.now());
    const text = JSON.stringify([data.status, data.phase, data.rowsDone, data.rowsFailed]);
    if (text !== last) {
      yield { id: String(id++), event: progress.isFinal ? 'end' : 'progress', data };
      changedAt = performance.now();
    }
    last = text;
    if (progress.isFinal) return;
    const isExpected = performance.now() - changedAt < EXPECTED_MILLISECONDS;
    const milliseconds = isExpected ? POLL_MILLISECONDS : POLL_WITHOUT_PROGRESS_MILLISECONDS;
    await pause(Math.min(milliseconds, endsAt - clock.now().getTime()), signal);
  }
}

function describe({ status, phase, rowsDone, rowsFailed, startedAt, endedAt, share }: Progress, now: Date) {
  const elapsed = startedAt ? Math.max(1, (endedAt ?? now).getTime() - startedAt.getTime()) : 0;
  const rowsPerSecond = elapsed > 0 ? Math.round((rowsDone / elapsed) * 1_000) : 0;
  const isEstimable = share !== null && share > 0 && startedAt !== null && endedAt === null;
  const estimatedEndAt = isEstimable ? new Date(startedAt.getTime() + elapsed / share) : endedAt;
  return { status, phase, rowsDone, rowsFailed, rowsPerSecond, estimatedEndAt };
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
  });
