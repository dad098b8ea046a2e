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

/** The database of a service, of a role that row-level security does not bind. */
type UrlOf = (service: string) => string;

/**
 * Finds the files of the blob store that were last written before a time and that no row names: nobody can read them, and
 * no service removes them. Files under other keys than those of services are none of them. It reads the store once and
 * holds some files at a time.
 * @throws an error where row-level security binds a role, since it would see few rows
 */
export async function* findOrphanFiles(
  files: Pick<StoredFiles, 'list'>,
  urlOf: UrlOf,
  before: Date,
): AsyncGenerator<FileOfTenant[]> {
  for await (const { orphans } of examineFiles(files, urlOf, before)) if (orphans.length > 0) yield orphans;
}

/**
 * Removes what `findOrphanFiles` finds, and returns what it has removed. Those of a service are held until there is a file
 * that a row of its database names: where none is, it is the database of another platform, as far as anybody can tell.
 * @throws also an error where it removed none of a service for this reason
 */
export async function* removeOrphanFiles(
  files: StoredFiles,
  urlOf: UrlOf,
  before: Date,
): AsyncGenerator<FileOfTenant[]> {
  const fitting = new Set<string>();
  const held = new Map<string, FileOfTenant[]>();
  for await (const { service, orphans, namesAny } of examineFiles(files, urlOf, before)) {
    if (namesAny) fitting.add(service);
    const all = held.get(service) ?? [];
    for (const orphan of orphans) all.push(orphan);
    held.set(service, all);
    if (!fitting.has(service) || all.length === 0) continue;
    held.delete(service);
    for (const { key } of all) await files.remove(key);
    yield all;
  }
  const strange = [...held].find(([, { length }]) => length > 0);
  if (strange)
    throw new Error(
      `No file of ${strange[0]} has a row in its database, so that may be the one of another platform: its ${strange[1].length} files stay.`,
    );
}

interface Examined {
  service: string;
  orphans: FileOfTenant[];
  /** Whether a row of the service names any of the files. */
  namesAny: boolean;
}

async function* examineFiles(
  files: Pick<StoredFiles, 'list'>,
  urlOf: UrlOf,
  before: Date,
): AsyncGenerator<Examined> {
  const clients = new Map<string, pg.Client>();
  try {
    for (const service of new Set(Object.values(rowsOf).map((rows) => rows.service))) {
      const client = new pg.Client({ connectionString: urlOf(service) });
      clients.set(service, client);
      await client.connect();
      await requireAllRows(client);
    }
    for await (const piece of files.list()) {
      const ofServices = piece.flatMap((file) => {
        const named = KEY.exec(file.key);
        return named ? [{ ...file, tenantId: named[1]!, kind: named[2]!, id: named[3]! }] : [];
      });
      const byKind = Map.groupBy(ofServices, ({ kind }) => kind);
      for (const [kind, ofKind] of byKind) {
        const { service, naming } = rowsOf[kind]!;
        const unnamed = await withoutRow(clients.get(service)!, naming, ofKind);
        yield {
          service,
          orphans: unnamed.filter(({ modifiedAt }) => modifiedAt < before),
          namesAny: unnamed.length < ofKind.length,
        };
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
