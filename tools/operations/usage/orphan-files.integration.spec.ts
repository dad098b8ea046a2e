import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { newId } from '@plinth/kernel/uuid';
import { openBlobStore } from '@plinth/runtime/blobs/open-blob-store';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { startS3Server } from '@plinth/testing/s3-server';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import pg from 'pg';
import { findOrphanFiles } from './orphan-files';
import { openStoredFiles, type StoredFile, type StoredFiles } from './stored-files';

const DAY_MILLISECONDS = 86_400_000;
const dayAgo = (): Date => new Date(Date.now() - DAY_MILLISECONDS);

const s3 = findOrInstall('s3');

async function listAll(files: StoredFiles): Promise<StoredFile[]> {
  const all: StoredFile[] = [];
  for await (const piece of files.list()) all.push(...piece);
  return all;
}

describe('files that no row names', () => {
  const databases: Record<string, TestDatabase> = {};
  let folder: string;

  beforeAll(async () => {
    for (const service of ['data-exchange', 'timeline'])
      databases[service] = await createTestDatabase(service);
    folder = mkdtempSync(join(tmpdir(), 'plinth-files-'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    for (const database of Object.values(databases)) await database.drop();
  });

  const insert = async (service: string, statement: string, values: unknown[]) => {
    const client = new pg.Client({ connectionString: databases[service]!.adminUrl });
    await client.connect();
    await client.query(statement, values).finally(() => client.end());
  };
  /** A file of two days ago, unless it is new. */
  const store = (key: string, isNew = false): string => {
    const path = join(folder, key);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'content');
    const written = new Date(Date.now() - 2 * DAY_MILLISECONDS);
    if (!isNew) utimesSync(path, written, written);
    return key;
  };

  it('are found and can be removed, and none that a row names, that is new, or that no service stored', async () => {
    const tenantId = newId();
    const addUpload = (id: string, isRemoved = false) =>
      insert(
        'data-exchange',
        `INSERT INTO import_job (tenant_id, id, definition_name, original_file_name, mime_type, file_size_bytes, sha256,
           blob_key, format, options, status, created_by, created_at, permission, file_removed_at)
         VALUES ($1, $2, 'A.B', 'x.csv', 'text/csv', 7, 'x', $3, '{}', '{}', 'Created', 'ada', now(), 'A.B.C', $4)`,
        [tenantId, id, `${tenantId}/imports/${id}`, isRemoved ? new Date() : null],
      );
    const [upload, removed, run] = [newId(), newId(), newId()];
    await addUpload(upload);
    await addUpload(removed, true);
    await insert('timeline', 'INSERT INTO unrecorded_blob (tenant_id, key) VALUES ($1, $2)', [
      tenantId,
      store(`${tenantId}/timeline/${run}`),
    ]);
    store(`${tenantId}/imports/${upload}`);
    store(`${tenantId}/imports/${newId()}`, true);
    store('notes/of/somebody');
    const orphans = [
      `${tenantId}/imports/${removed}`,
      `${tenantId}/imports/${newId()}`,
      `${tenantId}/exports/${newId()}-${run}`,
      `${tenantId}/timeline/${newId()}`,
    ];
    orphans.forEach((key) => store(key));

    const files = await openStoredFiles(pathToFileURL(folder).href);
    const found: string[] = [];
    const urlOf = (service: string) => databases[service]!.adminUrl;
    for await (const piece of findOrphanFiles(files, urlOf, dayAgo()))
      for (const { key } of piece) {
        found.push(key);
        await files.remove(key);
      }

    expect(found.sort()).toEqual(orphans.sort());
    const kept = (await listAll(files)).map(({ key }) => key);
    expect(kept).toHaveLength(4);
    expect(kept).toEqual(expect.arrayContaining([`${tenantId}/imports/${upload}`, 'notes/of/somebody']));
  });

  it('cannot be told by a role that sees few rows', async () => {
    const files = await openStoredFiles(pathToFileURL(folder).href);
    const pieces = findOrphanFiles(files, (service) => databases[service]!.url, dayAgo());
    await expect(pieces.next()).rejects.toThrow('BYPASSRLS');
  });

  (s3 === undefined ? it.skip : it)(
    'are listed and removed in a bucket under the keys that services gave them',
    async () => {
      const server = await startS3Server(s3 ?? '');
      try {
        const key = `${newId()}/timeline/${newId()}`;
        await openBlobStore(server.url).put(key, Readable.from([Buffer.from('content')]));
        const files = await openStoredFiles(server.url);
        expect(await listAll(files)).toEqual([{ key, bytes: 7, modifiedAt: expect.any(Date) }]);
        await files.remove(key);
        expect(await listAll(files)).toEqual([]);
      } finally {
        await server.stop();
      }
    },
  );
});
