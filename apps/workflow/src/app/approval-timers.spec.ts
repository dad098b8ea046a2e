import { silentLog } from '@plinth/runtime/process/log';
import type { Approval } from '../domain/approval';
import type { ApprovalStore } from '../store/approval-store';
import { ApprovalTimers } from './approval-timers';

const NOW = new Date('2026-03-01T12:00:00Z');

const notCalled = () => Promise.reject(new Error('is not called'));

/** Stands for the database: approvals of tenants, all of which are to be escalated. */
function start(idsByTenant: Record<string, readonly string[]>, fails: (id: string) => boolean) {
  const open = new Map(
    Object.entries(idsByTenant).flatMap(([tenantId, ids]) =>
      ids.map((id, at) => [id, { tenantId, nextStepAt: new Date(NOW.getTime() - 1_000_000 + at) }]),
    ),
  );
  const tried: string[] = [];
  const approvals: Partial<ApprovalStore> = {
    tenantsWithDue: async () => [...new Set([...open.values()].map(({ tenantId }) => tenantId))],
    findDue: async (tenantId, _now, after, limit) =>
      [...open]
        .map(([id, one]) => ({ id, ...one }))
        .filter((one) => one.tenantId === tenantId && (!after || one.nextStepAt > after.nextStepAt))
        .slice(0, limit),
    findOpen: async (_tenantId, id) => {
      const escalateAt = open.get(id)?.nextStepAt;
      return escalateAt && ({ id, escalateAt, isEscalated: false } as Approval);
    },
    escalate: async (_tenantId, { id }) => {
      tried.push(id);
      if (fails(id)) throw new Error('fails always');
      open.delete(id);
    },
  };
  const ofProcess = () =>
    new ApprovalTimers({
      approvals: approvals as ApprovalStore,
      schedule: { start: async () => undefined },
      transitions: { expire: notCalled },
      clock: { now: () => NOW },
      log: silentLog(),
    });
  return { timers: ofProcess(), other: ofProcess(), open, tried };
}

const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}-${at}`);

describe('timers of what comes soon', () => {
  it('are started a page at a time: the next one is read when those of this one were started', async () => {
    const started = Promise.withResolvers<void>();
    const timers = new ApprovalTimers({
      approvals: {
        findComing: async () => [{ tenantId: 'acme', approval: { id: 'one' } as Approval }],
      } as Partial<ApprovalStore> as ApprovalStore,
      schedule: { start: () => started.promise },
      transitions: { expire: notCalled },
      clock: { now: () => NOW },
      log: silentLog(),
    });
    let isDone = false;
    const pass = timers.startTimers().then((isMore) => {
      isDone = true;
      return isMore;
    });
    await new Promise(setImmediate);

    expect(isDone).toBe(false);
    started.resolve();
    expect(await pass).toBe(false);
  });
});

describe('approvals that are due', () => {
  it('do not wait for those that fail always, however many and overdue these are', async () => {
    const { timers, open, tried } = start({ acme: [...ids('bad', 25), ...ids('good', 25)] }, (id) =>
      id.startsWith('bad'),
    );
    const isMore: boolean[] = [];
    do isMore.push(await timers.processAllDueSteps());
    while (isMore.at(-1) && isMore.length < 20);

    // Ten at a time, and then a turn in which there are none.
    expect(isMore).toEqual([true, true, true, true, true, false]);
    expect([...open.keys()]).toEqual(ids('bad', 25));
    await timers.processAllDueSteps();
    expect(tried.filter((id) => id === 'bad-0')).toHaveLength(2);
  });

  it('are left to another process by one that stops, behind the step that it is at', async () => {
    const stopping = new AbortController();
    const { timers, other, open, tried } = start({ acme: ids('a', 10), globex: ids('g', 10) }, () => {
      stopping.abort();
      return false;
    });

    expect(await timers.processAllDueSteps(stopping.signal)).toBe(false);
    expect(tried).toEqual(['a-0']);

    while (await other.processAllDueSteps());
    expect(open.size).toBe(0);
    expect(tried).toHaveLength(20);
  });

  it('that fail always are tried once each, whatever other tenants have', async () => {
    const { timers, tried } = start({ acme: ids('a', 10), globex: ids('g', 20) }, () => true);
    while (await timers.processAllDueSteps());
    expect(tried.toSorted()).toEqual([...ids('a', 10), ...ids('g', 20)].toSorted());
  });
});
