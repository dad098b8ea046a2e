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
import { findOrphanFiles, removeOrphanFiles } from './orphan-files';
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

  const addUpload = (tenantId: string, id: string, isRemoved = false) =>
    insert(
      'data-exchange',
      `INSERT INTO import_job (tenant_id, id, definition_name, original_file_name, mime_type, file_size_bytes, sha256,
         blob_key, format, options, status, created_by, created_at, permission, file_removed_at)
       VALUES ($1, $2, 'A.B', 'x.csv', 'text/csv', 7, 'x', $3, '{}', '{}', 'Created', 'ada', now(), 'A.B.C', $4)`,
      [tenantId, id, `${tenantId}/imports/${id}`, isRemoved ? new Date() : null],
    );
  const urlOf = (service: string) => databases[service]!.adminUrl;
  const keysOf = async (pieces: AsyncGenerator<StoredFile[]>, found: string[] = []): Promise<string[]> => {
    for await (const piece of pieces) found.push(...piece.map(({ key }) => key));
    return found.sort();
  };

  it('are found and can be removed, and none that a row names, that is new, or that no service stored', async () => {
    const tenantId = newId();
    const [upload, removed, run] = [newId(), newId(), newId()];
    await addUpload(tenantId, upload);
    await addUpload(tenantId, removed, true);
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
    expect(await keysOf(findOrphanFiles(files, urlOf, dayAgo()))).toEqual(orphans.sort());
    expect(await keysOf(removeOrphanFiles(files, urlOf, dayAgo()))).toEqual(orphans);

    const kept = (await listAll(files)).map(({ key }) => key);
    expect(kept).toHaveLength(4);
    expect(kept).toEqual(expect.arrayContaining([`${tenantId}/imports/${upload}`, 'notes/of/somebody']));
  });

  it('stay where no row of the service names any file, as in the databases of another platform', async () => {
    const other = newId();
    const [tenantId, upload] = [newId(), newId()];
    await addUpload(tenantId, upload);
    const fileOf = (key: string): StoredFile => ({ key, bytes: 7, modifiedAt: new Date(0) });
    const orphan = fileOf(`${tenantId}/exports/${newId()}`);
    const pieces = [
      [fileOf(`${other}/timeline/${newId()}`), orphan],
      [fileOf(`${tenantId}/imports/${upload}`)],
      [fileOf(`${other}/timeline/${newId()}`)],
    ];
    const removed: string[] = [];
    const files: StoredFiles = {
      async *list() {
        yield* pieces;
      },
      remove: async (key) => void removed.push(key),
    };

    const found: string[] = [];
    await expect(keysOf(removeOrphanFiles(files, urlOf, dayAgo()), found)).rejects.toThrow(
      'No file of timeline has a row in its database, so that may be the one of another platform: its 2 files stay.',
    );

    expect(removed).toEqual([orphan.key]);
    expect(found).toEqual(removed);
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
