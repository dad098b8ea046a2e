import type { JobProgress } from '@plinth/sdk/jobs';
import { useEffect, useState } from 'react';
import { followAgain } from './follow-again';

const RETRY_MILLISECONDS = 2_000;

/** Waits for the end of a job, calls back with its progress, and throws where it could not be followed. */
type Follow = (onProgress: (progress: JobProgress) => void, signal: AbortSignal) => Promise<void>;

/** The progress of a running job as the platform sends it; a connection that is lost is made again. */
export function useJobProgress(follow: Follow): { progress: JobProgress | undefined; isConnected: boolean } {
  const [progress, setProgress] = useState<JobProgress>();
  const [isConnected, setConnected] = useState(true);
  useEffect(
    () =>
      followAgain(RETRY_MILLISECONDS, async ({ signal, onOpen }) => {
        const onProgress = (next: JobProgress) => {
          onOpen();
          setConnected(true);
          setProgress(next);
        };
        try {
          await follow(onProgress, signal);
        } catch (error) {
          if (!signal.aborted) setConnected(false);
          throw error;
        }
        return 'over';
      }),
    [follow],
  );
  return { progress, isConnected };
}
