import { importJob, type JobProgress } from '@plinth/sdk/jobs';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { dataExchange, importQuery, importsQuery } from '../api/data-exchange';

const RETRY_MILLISECONDS = 2_000;

/** The progress of a running import as the platform sends it; a connection that is lost is made again. */
export function useImportProgress(jobId: string): {
  progress: JobProgress | undefined;
  isConnected: boolean;
} {
  const queries = useQueryClient();
  const [progress, setProgress] = useState<JobProgress>();
  const [isConnected, setConnected] = useState(true);
  useEffect(() => {
    const ending = new AbortController();
    let timer: number | undefined;
    const follow = async () => {
      try {
        const onProgress = (next: JobProgress) => {
          setConnected(true);
          setProgress(next);
        };
        const job = await importJob(dataExchange, jobId).wait({ onProgress, signal: ending.signal });
        queries.setQueryData(importQuery(jobId).queryKey, job);
        void queries.invalidateQueries({ queryKey: importsQuery.queryKey });
      } catch {
        if (ending.signal.aborted) return;
        setConnected(false);
        timer = window.setTimeout(() => void follow(), RETRY_MILLISECONDS);
      }
    };
    void follow();
    return () => {
      ending.abort(new DOMException('The page was left.', 'AbortError'));
      clearTimeout(timer);
    };
  }, [jobId, queries]);
  return { progress, isConnected };
}
