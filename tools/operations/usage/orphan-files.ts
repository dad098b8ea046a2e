import pg from 'pg';
import { requireAllRows } from './tenant-usage.ts';
import type { StoredFile, StoredFiles } from './stored-files.ts';

/** A file that a service stored for a tenant, as its key says. */
interface FileOfTenant extends StoredFile {
  tenantId: string;
  kind: string;
  id: string;
}

const ID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}';
/** The file of an export is named after its job and the run that wrote it. */
const KEY = new RegExp(`^(${ID})/(imports|exports|timeline)/(${ID})(?:-${ID})?$`);

const isBeingStored = `EXISTS (
  SELECT FROM unrecorded_blob WHERE unrecorded_blob.tenant_id = file.tenant_id AND unrecorded_blob.key = file.key)`;

/** Where a service has the rows of files, and which of these files they name: `file` has what the keys say. */
const rowsOf: Record<string, { service: string; naming: string }> = {
  imports: {
    service: 'data-exchange',
    naming: `EXISTS (
      SELECT FROM import_job AS job WHERE job.tenant_id = file.tenant_id AND job.id = file.id AND job.file_removed_at IS NULL)`,
  },
  exports: {
    service: 'data-exchange',
    // Former versions stored the file of a job under its id alone.
    naming: `EXISTS (
      SELECT FROM export_job AS job WHERE job.tenant_id = file.tenant_id AND job.id = file.id AND job.file_removed_at IS NULL
        AND file.key IN (job.blob_key, job.tenant_id || '/exports/' || job.id))`,
  },
  timeline: {
    service: 'timeline',
    naming: `EXISTS (
      SELECT FROM blob WHERE blob.tenant_id = file.tenant_id AND blob.id = file.id AND NOT blob.is_removed)`,
  },
};

/**
 * Finds the files of the blob store that were last written before a time and that no row names: nobody can read them, and
 * no service removes them. Files under other keys than those of services are none of them. It reads the store once and
 * holds some files at a time.
 * @param urlOf the database of a service, of a role that row-level security does not bind
 * @throws an error where the role is bound, since it would see few rows
 */
export async function* findOrphanFiles(
  files: Pick<StoredFiles, 'list'>,
  urlOf: (service: string) => string,
  before: Date,
): AsyncGenerator<FileOfTenant[]> {
  const clients = new Map<string, pg.Client>();
  try {
    for (const service of new Set(Object.values(rowsOf).map((rows) => rows.service))) {
      const client = new pg.Client({ connectionString: urlOf(service) });
      clients.set(service, client);
      await client.connect();
      await requireAllRows(client);
    }
    for await (const piece of files.list()) {
      const old = piece.flatMap((file) => {
        const named = file.modifiedAt < before ? KEY.exec(file.key) : null;
        return named ? [{ ...file, tenantId: named[1]!, kind: named[2]!, id: named[3]! }] : [];
      });
      const byKind = Map.groupBy(old, ({ kind }) => kind);
      for (const [kind, ofKind] of byKind) {
        const { service, naming } = rowsOf[kind]!;
        const orphans = await withoutRow(clients.get(service)!, naming, ofKind);
        if (orphans.length > 0) yield orphans;
      }
    }
  } finally {
    for (const client of clients.values()) await client.end();
  }
}

async function withoutRow(
  client: pg.Client,
  naming: string,
  files: readonly FileOfTenant[],
): Promise<FileOfTenant[]> {
  const { rows } = await client.query<{ key: string }>(
    `SELECT key FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS file (tenant_id, id, key)
     WHERE NOT ${naming} AND NOT ${isBeingStored}`,
    [files.map(({ tenantId }) => tenantId), files.map(({ id }) => id), files.map(({ key }) => key)],
  );
  const keys = new Set(rows.map(({ key }) => key));
  return files.filter(({ key }) => keys.has(key));
}
