import type { Approval } from '../domain/approval';
import { temporalSchedule } from './client';

const NOW = new Date('2026-03-01T12:00:00Z');
const approvalOf = (id: string) =>
  ({ id, isReminded: true, isEscalated: true, expiresAt: new Date(NOW.getTime() + 60_000) }) as Approval;

describe('timers that are started in Temporal', () => {
  it('are few at the same time, of which each tenant has some, and are waited for', async () => {
    const begun: string[] = [];
    const release = Promise.withResolvers<void>();
    const start = async (_name: string, { args: [tenantId] }: { args: [string] }) => {
      begun.push(tenantId);
      await release.promise;
    };
    const withDeadline = (_deadline: number, work: () => Promise<unknown>) => work();
    const temporal = { client: async () => ({ workflow: { start }, withDeadline }) } as never;
    const warnings: unknown[] = [];
    const log = { warn: (warning: unknown) => void warnings.push(warning) } as never;
    const schedule = temporalSchedule(temporal, 'queue', { now: () => NOW }, log);
    let isDone = false;

    const acme = Array.from({ length: 200 }, (_, at) => schedule.start('acme', approvalOf(`a-${at}`)));
    const all = Promise.all([...acme, schedule.start('globex', approvalOf('g'))]).then(() => {
      isDone = true;
    });
    await new Promise(setImmediate);

    expect(begun.length).toBeLessThanOrEqual(20);
    expect(begun).toContain('globex');
    expect(isDone).toBe(false);
    release.resolve();
    await all;
    expect(begun).toHaveLength(201);
    expect(warnings).toEqual([]);
  });
});
