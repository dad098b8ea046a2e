import { problemsOf, recentRequests } from './problems';

const service = {
  name: 'timeline',
  ready: true,
  responds: true,
  parts: { postgres: 'up', nats: 'up' },
  queues: { unpublished: 0, oldestSeconds: 0, deadLetters: 0 },
  breaker: 'closed',
  running: 0,
  requests: 0,
  failed: 0,
} as const;
const minute = { at: '2026-01-01T00:00:00.000Z', requests: 0, failed: 0, limited: 0, meanMilliseconds: 0 };
const well = { redisResponds: true, services: [service], minutes: [minute] };
const job = {
  kind: 'import',
  id: '01900000-0000-7000-8000-000000000001',
  tenantId: '01900000-0000-7000-8000-000000000002',
  definitionName: 'Contacts',
  status: 'Executing',
  rowsDone: 1,
  rowsFailed: 0,
  createdAt: new Date(0).toISOString(),
  progressAt: null,
  completedAt: null,
  errorMessage: null,
} as const;

describe('what is wrong with the platform', () => {
  it('is nothing while everything is ready and nothing waits or fails', () => {
    expect(problemsOf(well, [{ ...job, progressAt: new Date().toISOString() }])).toEqual([]);
    expect(problemsOf({ ...well, minutes: [{ ...minute, requests: 1_000, failed: 10 }] }, [])).toEqual([]);
  });

  it.each([
    ['redis', { ...well, redisResponds: false }],
    ['silent', { ...well, services: [{ ...service, responds: false, ready: false, parts: {} }] }],
    ['part', { ...well, services: [{ ...service, ready: false, parts: { postgres: 'down' as const } }] }],
    [
      'notReady',
      { ...well, services: [{ ...service, ready: false, parts: { process: 'draining' as const } }] },
    ],
    ['notReady', { ...well, services: [{ ...service, ready: false }] }],
    ['breaker', { ...well, services: [{ ...service, breaker: 'open' as const }] }],
    ['queue', { ...well, services: [{ ...service, queues: { ...service.queues, oldestSeconds: 61 } }] }],
    ['dead', { ...well, services: [{ ...service, queues: { ...service.queues, deadLetters: 1 } }] }],
    ['failing', { ...well, minutes: [{ ...minute, requests: 50, failed: 1 }] }],
  ])('is told as %s', (name, operations) => {
    expect(problemsOf(operations, []).map((problem) => problem.name)).toEqual([name]);
  });

  it('is told of jobs of which nobody heard for ten minutes, and not of those that ended', () => {
    const ended = { ...job, status: 'Completed' as const };
    expect(problemsOf(well, [job, ended])).toEqual([{ name: 'stuck', values: { count: 1 } }]);
  });

  it('counts the last five minutes only, and weighs times by requests', () => {
    const minutes = [
      { ...minute, requests: 100, failed: 100, meanMilliseconds: 1_000 },
      ...[1, 2, 3].map(() => minute),
      { ...minute, requests: 10, failed: 1, meanMilliseconds: 40 },
      { ...minute, requests: 30, meanMilliseconds: 20 },
    ];
    expect(recentRequests(minutes)).toEqual({ requests: 40, failed: 1, mean: 25 });
  });
});
