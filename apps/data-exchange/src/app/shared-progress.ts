import { forMany } from '@plinth/runtime/process/current-work';
import type { Progress } from './watch-progress';

/** A job is read at most this often, however many streams show its progress. */
export const POLL_MILLISECONDS = 500;

/** Reads of progress, which all streams of one job share. */
export class SharedProgress {
  private readonly reads = new Map<string, { progress: Promise<Progress>; at: number }>();

  /** The progress of a job, read by one of its streams for all. */
  read(jobKey: string, read: () => Promise<Progress>): Promise<Progress> {
    const now = performance.now();
    const known = this.reads.get(jobKey);
    if (known && now - known.at < POLL_MILLISECONDS) return known.progress;
    const progress = forMany(read);
    const entry = { progress, at: now };
    this.reads.set(jobKey, entry);
    const forget = (): void => {
      if (this.reads.get(jobKey) === entry) this.reads.delete(jobKey);
    };
    progress.catch(forget);
    setTimeout(forget, 2 * POLL_MILLISECONDS).unref();
    return progress;
  }
}
