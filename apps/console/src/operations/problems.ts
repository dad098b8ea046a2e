import type { ExchangeJob, PlatformOperations } from '../api/operations';

type Service = PlatformOperations['services'][number];

/** Something that is wrong with the platform itself: the name of its text, and what is filled in. */
export interface PlatformProblem {
  name: string;
  values: Record<string, string | number>;
}

/** Events that wait longer than this wait for something that is broken. */
const WAIT_SECONDS_MAX = 60;
/** More errors than these are no single mishap. */
const FAILED_SHARE_MAX = 0.01;
const RECENT_MINUTES = 5;

/** What the gateway did in the last five minutes; times in milliseconds. */
export function recentRequests(minutes: PlatformOperations['minutes']) {
  const recent = minutes.slice(-RECENT_MINUTES);
  const requests = recent.reduce((sum, minute) => sum + minute.requests, 0);
  const failed = recent.reduce((sum, minute) => sum + minute.failed, 0);
  const milliseconds = recent.reduce((sum, minute) => sum + minute.requests * minute.meanMilliseconds, 0);
  return { requests, failed, mean: requests > 0 ? Math.round(milliseconds / requests) : 0 };
}

/** Everything because of which it is us, the most far-reaching first. */
export function problemsOf(
  { redisResponds, services, minutes }: Pick<PlatformOperations, 'redisResponds' | 'services' | 'minutes'>,
  jobs: readonly ExchangeJob[],
): PlatformProblem[] {
  const { requests, failed } = recentRequests(minutes);
  const stuck = jobs.filter((job) => isStuck(job)).length;
  return [
    ...(redisResponds ? [] : [{ name: 'redis', values: {} }]),
    ...services.flatMap(problemsOfService),
    ...(failed > requests * FAILED_SHARE_MAX ? [{ name: 'failing', values: { failed, requests } }] : []),
    ...(stuck > 0 ? [{ name: 'stuck', values: { count: stuck } }] : []),
  ];
}

function problemsOfService({ name, responds, ready, parts, queues, breaker }: Service): PlatformProblem[] {
  if (!responds) return [{ name: 'silent', values: { name } }];
  const down = Object.keys(parts).filter((part) => parts[part] === 'down');
  return [
    ...down.map((part) => ({ name: 'part', values: { name, part } })),
    // It starts or ends.
    ...(!ready && down.length === 0 ? [{ name: 'notReady', values: { name } }] : []),
    ...(breaker === 'open' ? [{ name: 'breaker', values: { name } }] : []),
    ...(queues && queues.oldestSeconds > WAIT_SECONDS_MAX
      ? [{ name: 'queue', values: { name, count: queues.unpublished } }]
      : []),
    ...(queues && queues.deadLetters > 0
      ? [{ name: 'dead', values: { name, count: queues.deadLetters } }]
      : []),
  ];
}

const unfinished = new Set(['Queued', 'Exporting', 'Executing', 'Undoing']);
export const isUnfinished = ({ status }: Pick<ExchangeJob, 'status'>): boolean => unfinished.has(status);

/** Nobody heard of it for so long that something is wrong with it. */
const SILENT_MILLISECONDS = 600_000;

export const isStuck = (job: Pick<ExchangeJob, 'status' | 'progressAt' | 'createdAt'>): boolean =>
  isUnfinished(job) && Date.now() - Date.parse(job.progressAt ?? job.createdAt) > SILENT_MILLISECONDS;
