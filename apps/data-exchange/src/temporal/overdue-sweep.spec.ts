import { silentLog } from '@plinth/runtime/process/log';
import { JOB_BATCH_SIZE } from '../store/job-records';
import { overdueSweep } from '../background';
import { jobStarter } from './client';

/** A starter of jobs at a Temporal that may be away, and how often it looked for jobs that are overdue. */
function aStarter() {
  const state = { isAway: false, isDatabaseAway: false, looks: 0, overdue: 0 };
  const none = { recordStart: async () => undefined };
  const starter = jobStarter({
    config: { EXCHANGE_TASK_QUEUE: 'jobs' },
    temporal: {
      client: async () => {
        if (state.isAway) throw new Error('Temporal is away.');
        return { workflow: { start: async () => undefined } };
      },
    },
    imports: none,
    exports: none,
    undos: none,
    overdueJobs: {
      list: async () => {
        state.looks++;
        if (state.isDatabaseAway) throw new Error('The database is away.');
        const listed = Math.min(state.overdue, JOB_BATCH_SIZE);
        state.overdue -= listed;
        return Array.from({ length: listed }, () => ({ ...job, kind: 'export' }));
      },
    },
    log: silentLog(),
  } as unknown as Parameters<typeof jobStarter>[0]);
  const sweep = overdueSweep(starter);
  const looksIn = async (sweeps: number): Promise<number> => {
    const before = state.looks;
    for (let taken = 0; taken < sweeps; taken++) await sweep().catch(() => undefined);
    return state.looks - before;
  };
  return { starter, state, looksIn };
}

const job = { tenantId: 'one', id: 'job' };

describe('overdue jobs', () => {
  it('are looked for when a process starts, and then rarely', async () => {
    const { looksIn } = aStarter();

    expect(await looksIn(1)).toBe(1);
    expect(await looksIn(10)).toBe(2);
  });

  it('are looked for at the next time after a start failed', async () => {
    const { starter, state, looksIn } = aStarter();
    await looksIn(1);
    state.isAway = true;
    await starter.startExport(job);

    expect(await looksIn(1)).toBe(1);
    expect(await looksIn(1)).toBe(0);
  });

  it('are looked for at the next time while there are more than one look lists', async () => {
    const { state, looksIn } = aStarter();
    state.overdue = 2 * JOB_BATCH_SIZE + 1;

    expect(await looksIn(4)).toBe(3);
    expect(state.overdue).toBe(0);
  });

  it('are looked for again where they could not be listed', async () => {
    const { starter, state, looksIn } = aStarter();
    await looksIn(1);
    state.isAway = true;
    await starter.startImport(job);
    state.isDatabaseAway = true;

    expect(await looksIn(3)).toBe(3);
  });

  it('are looked for until they are listed where the database is away when a process starts', async () => {
    const { state, looksIn } = aStarter();
    state.isDatabaseAway = true;
    expect(await looksIn(3)).toBe(3);
    state.isDatabaseAway = false;

    expect(await looksIn(1)).toBe(1);
    expect(await looksIn(4)).toBe(0);
  });
});
