import type { JobProgress } from '@plinth/sdk/jobs';
import { useEffect, useState } from 'react';

const RETRY_MILLISECONDS = 2_000;

/** Waits for the end of a job, calls back with its progress, and throws where it could not be followed. */
type Follow = (onProgress: (progress: JobProgress) => void, signal: AbortSignal) => Promise<void>;

/** The progress of a running job as the platform sends it; a connection that is lost is made again. */
export function useJobProgress(follow: Follow): { progress: JobProgress | undefined; isConnected: boolean } {
  const [progress, setProgress] = useState<JobProgress>();
  const [isConnected, setConnected] = useState(true);
  useEffect(() => {
    const ending = new AbortController();
    let timer: number | undefined;
    const onProgress = (next: JobProgress) => {
      setConnected(true);
      setProgress(next);
    };
    const run = async () => {
      try {
        await follow(onProgress, ending.signal);
      } catch {
        if (ending.signal.aborted) return;
        setConnected(false);
        timer = window.setTimeout(() => void run(), RETRY_MILLISECONDS);
      }
    };
    void run();
    return () => {
      ending.abort(new DOMException('The page was left.', 'AbortError'));
      clearTimeout(timer);
    };
  }, [follow]);
  return { progress, isConnected };
}
