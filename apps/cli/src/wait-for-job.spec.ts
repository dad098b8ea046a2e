import type { Job, JobProgress } from '@plinth/sdk/jobs';
import type { Terminal } from './terminal';
import { waitForJob } from './wait-for-job';

describe('waiting for a job', () => {
  it('shows the rows of an export, and that its file is being finished', async () => {
    const lines: string[] = [];
    const terminal: Pick<Terminal, 'progress' | 'endProgress'> = {
      progress: (line) => void lines.push(line.replace(/^[█░]+ /, '')),
      endProgress: () => void lines.push('end'),
    };
    const writing: JobProgress = {
      status: 'Exporting',
      phase: 'WritingRows',
      rowsDone: 500,
      rowsFailed: 0,
      rowsPerSecond: 100,
      estimatedEndAt: null,
    };
    const job: Pick<Job<string>, 'id' | 'wait'> = {
      id: '1',
      wait: async ({ onProgress } = {}) => {
        onProgress?.(writing);
        onProgress?.({ ...writing, phase: 'FinishingFile' });
        return 'Completed';
      },
    };

    expect(await waitForJob('export', job, terminal)).toBe('Completed');
    expect(lines).toEqual(['500 rows, 100/s', '500 rows, 100/s, finishing the file', 'end']);
  });
});
