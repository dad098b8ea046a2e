import { resolveEndpoints, servicesWithDatabase } from '../events/endpoints.ts';
import { readTenantUsage, totalOf } from './tenant-usage.ts';

const USAGE = 'npm run usage [-- tenant…]   what tenants store, in files and in rows of each service';
const MEGABYTE = 1_000_000;

/** `npm run usage`: how much each tenant stores, the most first. */
async function main(tenants: readonly string[]): Promise<void> {
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
