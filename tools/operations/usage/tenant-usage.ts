import pg from 'pg';

/** What a tenant stores with one service. */
export interface TenantUsage {
  tenantId: string;
  /** In the blob store: uploads, files of exports, attachments. */
  fileBytes: number;
  /** In the database: its rows without their indexes. */
  rowBytes: number;
}

/** Where services know the size of files in the blob store. */
const filesOf: Record<string, string> = {
  'data-exchange': `
    SELECT tenant_id, file_size_bytes AS bytes FROM import_job WHERE file_removed_at IS NULL
    UNION ALL
    SELECT tenant_id, file_size_bytes FROM export_job WHERE file_size_bytes IS NOT NULL AND file_removed_at IS NULL`,
  timeline: 'SELECT tenant_id, size_bytes AS bytes FROM blob WHERE NOT is_removed',
};

/**
 * What every tenant stores with a service. It reads all rows of the database, so it is for operators and not for a
 * metric, which would also have a label for each tenant.
 * @param url of a role that row-level security does not bind: a service sees most tables for one tenant at a time
 * @throws an error where the role is bound, since it would count next to nothing
 */
export async function readTenantUsage(service: string, url: string): Promise<TenantUsage[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN READ ONLY');
    await requireAllRows(client);
    const usage = new Map<string, TenantUsage>();
    const add = (tenantId: string, property: 'fileBytes' | 'rowBytes', bytes: string) => {
      const found = usage.get(tenantId) ?? { tenantId, fileBytes: 0, rowBytes: 0 };
      usage.set(tenantId, { ...found, [property]: found[property] + Number(bytes) });
    };
    for (const table of await tablesOfTenants(client)) {
      const name = client.escapeIdentifier(table);
      const { rows } = await client.query<{ tenant_id: string; bytes: string }>(
        `SELECT tenant_id, sum(pg_column_size(${name}.*)) AS bytes FROM ${name} GROUP BY tenant_id`,
      );
      for (const { tenant_id: tenantId, bytes } of rows) add(tenantId, 'rowBytes', bytes);
    }
    if (filesOf[service] !== undefined) {
      const { rows } = await client.query<{ tenant_id: string; bytes: string }>(
        `SELECT tenant_id, sum(bytes) AS bytes FROM (${filesOf[service]}) AS file GROUP BY tenant_id`,
      );
      for (const { tenant_id: tenantId, bytes } of rows) add(tenantId, 'fileBytes', bytes);
    }
    await client.query('COMMIT');
    return [...usage.values()].sort((left, right) => totalOf(right) - totalOf(left));
  } finally {
    await client.end();
  }
}

/** All bytes of a usage. */
export const totalOf = ({ fileBytes, rowBytes }: Omit<TenantUsage, 'tenantId'>): number =>
  fileBytes + rowBytes;

/** @throws an error where row-level security binds the role of a connection */
export async function requireAllRows(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ seesAll: boolean }>(
    `SELECT rolsuper OR rolbypassrls AS "seesAll" FROM pg_roles WHERE rolname = current_user`,
  );
  if (!rows[0]!.seesAll)
    throw new Error(
      'This role does not see the rows of all tenants: MIGRATE_DATABASE_URL, or that of the service, must name a superuser or a role with BYPASSRLS.',
    );
}

async function tablesOfTenants(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND has_table_privilege(c.oid, 'SELECT')
     ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}
