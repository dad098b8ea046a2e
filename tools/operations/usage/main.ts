import { resolveEndpoints, servicesWithDatabase } from './endpoints.ts';
import { findOrphanFiles, removeOrphanFiles } from './orphan-files.ts';
import { openStoredFiles } from './stored-files.ts';
import { readTenantUsage, totalOf } from './tenant-usage.ts';

const USAGE = `npm run usage [-- tenant…]              what tenants store, in files and in rows of each service
npm run usage -- --orphans [--remove]   files older than a day that no row names; --remove removes them`;
const MEGABYTE = 1_000_000;
const DAY_MILLISECONDS = 86_400_000;

/** `npm run usage`: how much each tenant stores, the most first, or which files nobody can read. */
async function main(words: readonly string[]): Promise<void> {
  if (words[0] === '--orphans' && words.slice(1).every((word) => word === '--remove'))
    return showOrphans(words.length > 1);
  return showUsage(words);
}

/** Lists the files of the blob store that no row names, and removes them where that is asked for. */
async function showOrphans(removes: boolean): Promise<void> {
  const endpoints = resolveEndpoints(process.env);
  const files = await openStoredFiles(endpoints.blobUrl());
  const before = new Date(Date.now() - DAY_MILLISECONDS);
  const found = (removes ? removeOrphanFiles : findOrphanFiles)(files, endpoints.adminUrlOf, before);
  let [count, bytes] = [0, 0];
  for await (const orphans of found)
    for (const orphan of orphans) {
      console.log(`${orphan.key}  ${orphan.bytes} bytes, ${orphan.modifiedAt.toISOString()}`);
      count++;
      bytes += orphan.bytes;
    }
  const done = removes ? 'removed' : 'found; --remove removes them';
  console.log(`${count} files that no row names, ${megabytes(bytes)}: ${done}`);
}

async function showUsage(tenants: readonly string[]): Promise<void> {
  if (tenants.some((tenant) => !/^[\da-f-]{36}$/i.test(tenant))) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  const endpoints = resolveEndpoints(process.env);
  const byTenant = new Map<string, { files: number; rows: number; services: string[] }>();
  for (const service of servicesWithDatabase()) {
    for (const usage of await readTenantUsage(service, endpoints.adminUrlOf(service))) {
      const { tenantId, fileBytes, rowBytes } = usage;
      const found = byTenant.get(tenantId) ?? { files: 0, rows: 0, services: [] };
      found.files += fileBytes;
      found.rows += rowBytes;
      found.services.push(`${service} ${megabytes(totalOf(usage))}`);
      byTenant.set(tenantId, found);
    }
  }
  const wanted = new Set(tenants.map((tenant) => tenant.toLowerCase()));
  const shown = [...byTenant].filter(([tenantId]) => wanted.size === 0 || wanted.has(tenantId));
  for (const [tenantId, { files, rows, services }] of shown.sort(
    ([, left], [, right]) => right.files + right.rows - left.files - left.rows,
  )) {
    console.log(
      `${tenantId}  ${megabytes(files)} in files, ${megabytes(rows)} in rows: ${services.join(', ')}`,
    );
  }
}

const megabytes = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(1)} MB`;

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
