import { problemsOf, recentRequests } from './problems';

const service = {
  name: 'timeline',
  ready: true,
  responds: true,
  parts: { postgres: 'up', nats: 'up' },
  queues: { unpublished: 0, oldestSeconds: 0, deadLetters: 0 },
  breaker: 'Closed',
  running: 0,
  requests: 0,
  failed: 0,
} as const;
const now = '2026-01-01T00:10:00.000Z';
const minute = { at: now, requests: 0, failed: 0, limited: 0, meanMilliseconds: 0 };
const well = { redisResponds: true, services: [service], minutes: [minute] };
const job = {
  kind: 'Import',
  id: '01900000-0000-7000-8000-000000000001',
  tenantId: '01900000-0000-7000-8000-000000000002',
  definitionName: 'Contacts',
  status: 'Executing',
  rowsDone: 1,
  rowsFailed: 0,
  createdAt: '2025-12-31T23:59:59.000Z',
  progressAt: null,
  completedAt: null,
  errorMessage: null,
} as const;

describe('what is wrong with the platform', () => {
  it('is nothing while everything is ready and nothing waits or fails', () => {
    expect(problemsOf(well, [{ ...job, progressAt: now }])).toEqual([]);
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
    ['breaker', { ...well, services: [{ ...service, breaker: 'Open' as const }] }],
    ['queue', { ...well, services: [{ ...service, queues: { ...service.queues, oldestSeconds: 61 } }] }],
    ['dead', { ...well, services: [{ ...service, queues: { ...service.queues, deadLetters: 1 } }] }],
    ['failing', { ...well, minutes: [{ ...minute, requests: 12, failed: 5 }] }],
    ['failing', { ...well, minutes: [{ ...minute, requests: 999, failed: 10 }] }],
  ])('is told as %s', (name, operations) => {
    expect(problemsOf(operations, []).map((problem) => problem.name)).toEqual([name]);
  });

  it('is no single mishap', () => {
    for (const [requests, failed] of [
      [12, 1],
      [4, 4],
    ] as const)
      expect(problemsOf({ ...well, minutes: [{ ...minute, requests, failed }] }, [])).toEqual([]);
  });

  it('is that nobody knows of the jobs', () => {
    expect(problemsOf(well, undefined)).toEqual([{ name: 'jobsUnread', values: {} }]);
  });

  it('is told in words that do not change with each request', () => {
    const failing = (requests: number) => ({ ...well, minutes: [{ ...minute, requests, failed: 50 }] });
    expect(problemsOf(failing(100), [])).toEqual(problemsOf(failing(101), []));
  });

  it('is told of jobs of which nobody heard for ten minutes, and not of those that ended', () => {
    const ended = { ...job, status: 'Completed' as const };
    const young = { ...job, createdAt: '2026-01-01T00:00:00.000Z' };
    expect(problemsOf(well, [job, ended, young])).toEqual([{ name: 'stuck', values: { count: 1 } }]);
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
