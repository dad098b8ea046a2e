import { quotaExceeded } from '@plinth/contracts/platform/problems';

/** What a tenant uses of what all tenants share for longer than a request. */
export interface TenantUsage {
  /** Of stored uploads and files of exports. */
  fileBytes: number;
  /** When the oldest of these files was made; null where there is none. */
  oldestFileAt: Date | null;
}

export interface TenantQuota {
  EXCHANGE_TENANT_BYTES_MAX: number;
  EXCHANGE_TENANT_JOBS_MAX: number;
  EXCHANGE_EXPORT_DAYS: number;
  EXCHANGE_UPLOAD_DAYS: number;
}

/** What a file counts at least, for its record and its place in the store of files; the same in `stored_file_bytes`. */
const FILE_BYTES_MIN = 4_096;

/** @param moreBytes what would be added, which counts as a file of 4 kB at least */
export const hasRoomForFiles = (
  { EXCHANGE_TENANT_BYTES_MAX: limit }: Pick<TenantQuota, 'EXCHANGE_TENANT_BYTES_MAX'>,
  { fileBytes }: TenantUsage,
  moreBytes = 0,
): boolean => fileBytes + Math.max(moreBytes, FILE_BYTES_MIN) <= limit;

const DAY_SECONDS = 86_400;
const RETRY_MINUTE_SECONDS = 60;

/**
 * Refuses a tenant whose stored files have no room for more. @param moreBytes what would be added
 * @throws Problem `quota-exceeded`.
 */
export function requireRoomForFiles(
  quota: TenantQuota,
  usage: TenantUsage,
  moreBytes: number,
  now: Date,
): void {
  if (hasRoomForFiles(quota, usage, moreBytes)) return;
  const { fileBytes, oldestFileAt } = usage;
  const limit = quota.EXCHANGE_TENANT_BYTES_MAX;
  const storedSeconds = Math.min(quota.EXCHANGE_EXPORT_DAYS, quota.EXCHANGE_UPLOAD_DAYS) * DAY_SECONDS;
  const ageSeconds = oldestFileAt ? (now.getTime() - oldestFileAt.getTime()) / 1_000 : 0;
  throw quotaExceeded({
    quota: 'exchange-file-bytes',
    what: 'bytes of uploads and exported files',
    limit,
    used: fileBytes,
    retryAfterSeconds: Math.ceil(Math.max(storedSeconds - ageSeconds, RETRY_MINUTE_SECONDS)),
  });
}

/**
 * Refuses a tenant that has too many unfinished jobs. @param unfinishedJobs imports, exports and undos that run or wait to run
 * @throws Problem `quota-exceeded`.
 */
export function requireRoomForJob(quota: TenantQuota, unfinishedJobs: number): void {
  const limit = quota.EXCHANGE_TENANT_JOBS_MAX;
  if (unfinishedJobs < limit) return;
  throw quotaExceeded({
    quota: 'exchange-jobs',
    what: 'unfinished imports, exports and undos',
    limit,
    used: unfinishedJobs,
    retryAfterSeconds: RETRY_MINUTE_SECONDS,
  });
}
