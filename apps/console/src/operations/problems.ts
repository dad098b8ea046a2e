import type { ExchangeJob, PlatformOperations } from '../api/operations';

type Service = PlatformOperations['services'][number];

/** Something that is wrong with the platform itself: the name of its text, and what is filled in. */
export interface PlatformProblem {
  name: string;
  values: Record<string, string | number>;
}

/** Events that wait longer than this wait for something that is broken. */
const WAIT_SECONDS_MAX = 60;
/** Fewer errors than these, or a smaller share of all requests, are single mishaps. */
const FAILED_MIN = 5;
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

/** The time of the platform: the clock of the reader may be wrong by more than what is judged by it. */
export const platformTime = (minutes: PlatformOperations['minutes']): number =>
  Date.parse(minutes.at(-1)!.at);

/**
 * Everything because of which it is us, the most far-reaching first.
 * @param jobs those that are the longest without an end; undefined where they could not be read
 */
export function problemsOf(
  { redisResponds, services, minutes }: Pick<PlatformOperations, 'redisResponds' | 'services' | 'minutes'>,
  jobs: readonly ExchangeJob[] | undefined,
): PlatformProblem[] {
  const { requests, failed } = recentRequests(minutes);
  const isFailing = failed >= FAILED_MIN && failed > requests * FAILED_SHARE_MAX;
  const now = platformTime(minutes);
  const stuck = jobs?.filter((job) => isStuck(job, now)).length ?? 0;
  return [
    ...(redisResponds ? [] : [{ name: 'redis', values: {} }]),
    ...services.flatMap(problemsOfService),
    // Without counts, which the line below has: what is read aloud changes only when something else is wrong.
    ...(isFailing ? [{ name: 'failing', values: {} }] : []),
    ...(jobs ? [] : [{ name: 'jobsUnread', values: {} }]),
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
    ...(breaker === 'Open' ? [{ name: 'breaker', values: { name } }] : []),
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

const SILENT_MILLISECONDS = 600_000;

/**
 * Whether nobody heard of a job for so long that something is wrong with it.
 * @param now the time of the platform, in milliseconds since 1970
 */
export const isStuck = (
  job: Pick<ExchangeJob, 'status' | 'progressAt' | 'createdAt'>,
  now: number,
): boolean => isUnfinished(job) && now - Date.parse(job.progressAt ?? job.createdAt) > SILENT_MILLISECONDS;
