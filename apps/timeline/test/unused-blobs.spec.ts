import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { systemClock } from '@plinth/kernel/clock';
import { newId } from '@plinth/kernel/uuid';
import { ALL_BUT_INTERVALS } from '@plinth/testing/all-but';
import { behindLock } from '@plinth/testing/behind-a-lock';
import { eventually } from '@plinth/testing/eventually';
import type { TestResponse } from '@plinth/testing/http';
import { saveBlob } from '../src/app/save-blob';
import { HEAD_LENGTH } from '../src/domain/file-type';
import { blobRecordStore, countedBytes } from '../src/store/blob-record-store';
import { removeInterruptedBlobs, unusedBlobs } from '../src/store/unused-blobs';
import { aFile } from './a-file';
import { Client } from 'pg';
import { aUser, startTimeline, type Timeline } from './start-timeline';

let timeline: Timeline;
/** A replica whose files are due as soon as they are uploaded. */
let impatientTimeline: Timeline;
beforeAll(async () => {
  timeline = await startTimeline();
  const { databaseUrl, natsPrefix, blobFolder } = timeline;
  impatientTimeline = await startTimeline({
    databaseUrl,
    natsPrefix,
    environment: { BLOB_URL: `file://${blobFolder}`, BLOB_UNATTACHED_HOURS: '1e-9' },
  });
  // Files go when a test says so, not also when an entry is removed or a minute is over.
  for (const replica of [timeline, impatientTimeline]) await replica.unusedBlobCleanup.close();
});
afterAll(async () => {
  await impatientTimeline.close();
  await timeline.close();
});

type User = ReturnType<typeof aUser>;
const upload = async (replica: Timeline, user: User, content = 'text'): Promise<string> =>
  (await replica.as(user).send('POST', '/blobs', aFile('a.txt', content))).body.id;
const attach = (user: User, path: string, ...attachmentBlobIds: string[]): Promise<TestResponse> =>
  timeline.as(user).post(`${path}/entries`, { entryType: 0, body: 'x', attachmentBlobIds });
const statusOf = async (user: User, id: string) => (await timeline.as(user).get(`/blobs/${id}`)).status;
const filesOf = (tenantId: string): string[] =>
  readdirSync(timeline.blobFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.includes(tenantId))
    .map(({ name }) => name);

const anEntity = () => `/timeline/Invoice/${newId()}`;

describe('the cleanup of unused files', () => {
  it('of an entry that is removed keeps out who attaches them meanwhile, and neither waits for the other', async () => {
    const ann = aUser(newId(), 'Ann');
    const path = anEntity();
    const file = await upload(timeline, ann);
    const { body: entry } = await attach(ann, path, file);
    const counted = {
      text: 'SELECT FROM entry_count WHERE tenant_id = $1 FOR UPDATE',
      values: [ann.tenantId],
    };

    const responses = await behindLock(
      timeline.database!.adminUrl,
      [counted],
      () => timeline.as(ann).delete(`${path}/entries/${entry.id}`),
      () => attach(ann, path, file),
    );

    expect(responses.map(({ status }) => status)).toEqual([204, 422]);
  });

  it('removes a file that is due and not attached', async () => {
    const ann = aUser(newId(), 'Ann');
    const early = await upload(timeline, ann);
    const due = await upload(impatientTimeline, ann);

    await timeline.unusedBlobs.remove();

    expect([await statusOf(ann, early), await statusOf(ann, due)]).toEqual([200, 404]);
    expect(filesOf(ann.tenantId)).toHaveLength(1);
    expect((await attach(ann, anEntity(), due)).body.errors).toHaveProperty(['attachmentBlobIds[0]']);
  });

  it('leaves a file as long as one entry has it', async () => {
    const ann = aUser(newId(), 'Ann');
    const id = await upload(impatientTimeline, ann);
    const [one, other] = [anEntity(), anEntity()];
    const entries = [await attach(ann, one, id), await attach(ann, other, id)];

    await timeline.unusedBlobs.remove();
    await timeline.as(ann).delete(`${one}/entries/${entries[0]!.body.id}`);
    await timeline.unusedBlobs.remove();
    expect(await statusOf(ann, id)).toBe(200);

    await timeline.as(ann).delete(`${other}/entries/${entries[1]!.body.id}`);
    await timeline.unusedBlobs.remove();
    expect(await statusOf(ann, id)).toBe(404);
    expect(filesOf(ann.tenantId)).toEqual([]);
  });

  it('either leaves an attached file or removes a refused one when both happen at once', async () => {
    const ann = aUser(newId(), 'Ann');
    const path = anEntity();
    for (let round = 0; round < 4; round++) {
      const ids = await Promise.all(Array.from({ length: 10 }, () => upload(impatientTimeline, ann)));

      const results = await Promise.all(
        ids.flatMap((id, index) => [
          attach(ann, path, id),
          ...(index % 4 === 0 ? [timeline.unusedBlobs.remove(), impatientTimeline.unusedBlobs.remove()] : []),
        ]),
      );

      const attached = results.filter((result) => typeof result !== 'boolean').map(({ status }) => status);
      expect(attached.filter((status) => status !== 201 && status !== 422)).toEqual([]);
      const statuses = await Promise.all(ids.map((id) => statusOf(ann, id)));
      expect(statuses).toEqual(attached.map((status) => (status === 201 ? 200 : 404)));
    }
  });

  it('gives back the room of what it removes, once, and of nothing else', async () => {
    const ann = aUser(newId(), 'Ann');
    const taken = () => blobRecordStore(timeline.db).storedBytes(ann.tenantId);
    const [small, large] = [countedBytes('text'.length), countedBytes(5_000)];
    await upload(timeline, ann, 'x'.repeat(5_000));
    const path = anEntity();
    const { body: entry } = await attach(ann, path, await upload(impatientTimeline, ann));
    await upload(impatientTimeline, ann);
    expect(await taken()).toBe(large + 2 * small);

    await timeline.unusedBlobs.remove();
    expect(await taken()).toBe(large + small);
    await timeline.as(ann).delete(`${path}/entries/${entry.id}`);
    await timeline.unusedBlobs.remove();
    expect(filesOf(ann.tenantId)).toHaveLength(1);
    expect(await taken()).toBe(large);
  });

  it('looks at no file again that it removed, while a transaction is held open', async () => {
    const count = 2_000;
    const admin = new Client({ connectionString: timeline.database!.adminUrl });
    const holder = new Client({ connectionString: timeline.database!.adminUrl });
    await Promise.all([admin.connect(), holder.connect()]);
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT');
    const tenantId = newId();
    await admin.query(
      `INSERT INTO blob (tenant_id, id, file_name, mime_type, size_bytes, sha256, uploaded_by, created_at, check_at)
       SELECT $1, uuidv7(), 'a', 'text/plain', 1, '', 'ann', now(), now() - number * interval '1 second'
       FROM generate_series(1, $2::int) AS number`,
      [tenantId, count],
    );
    const entriesRead = async (): Promise<number> => {
      const { rows } = await admin.query(
        `SELECT idx_tup_read::int AS count FROM pg_stat_user_indexes WHERE indexrelname = 'blob_to_check'`,
      );
      return rows[0].count;
    };
    const db: typeof timeline.db = {
      ...timeline.db,
      inPlatform: (work) =>
        timeline.db.inPlatform(async (tx) => {
          await tx.$queryRaw`SELECT pg_stat_force_next_flush()::text`;
          return work(tx);
        }),
    };
    const before = await entriesRead();

    const unused = unusedBlobs(db, { delete: async () => undefined }, systemClock);
    while (await unused.remove());

    const { rows } = await admin.query('SELECT count(*)::int AS left FROM blob WHERE tenant_id = $1', [
      tenantId,
    ]);
    const read = (await entriesRead()) - before;
    await Promise.all([admin.end(), holder.end()]);
    expect(rows[0].left).toBe(0);
    expect(read).toBeLessThan(4 * count);
  });

  it('removes a file after an earlier cleanup that crashed in the middle', async () => {
    const ann = aUser(newId(), 'Ann');
    const id = await upload(impatientTimeline, ann);
    const failingBlobs = {
      ...timeline.blobs,
      delete: async () => {
        throw new Error('the power went out');
      },
    };
    await expect(unusedBlobs(timeline.db, failingBlobs, systemClock).remove()).rejects.toThrow('power');
    expect(await statusOf(ann, id)).toBe(404);

    await timeline.unusedBlobs.remove();

    expect(filesOf(ann.tenantId)).toEqual([]);
  });

  it('removes the files behind one that cannot be deleted', async () => {
    const ann = aUser(newId(), 'Ann');
    const ids = [await upload(impatientTimeline, ann), await upload(impatientTimeline, ann)];
    const blobs = {
      ...timeline.blobs,
      delete: async (key: string) => {
        if (key.includes(ids[0]!)) throw new Error('permission denied');
        await timeline.blobs.delete(key);
      },
    };
    await expect(unusedBlobs(timeline.db, blobs, systemClock).remove()).rejects.toThrow('denied');
    expect(filesOf(ann.tenantId)).toHaveLength(1);
    const left = await timeline.db.inTenant(ann.tenantId, (tx) => tx.blob.findMany({ select: { id: true } }));
    expect(left).toEqual([{ id: ids[0] }]);
  });

  it('removes a whole file whose record was never stored, and none whose record only seemed to be lost', async () => {
    const ann = aUser(newId(), 'Ann');
    const { insert } = timeline.blobRecords;
    const failing = jest.spyOn(timeline.blobRecords, 'insert');
    jest.spyOn(timeline.blobs, 'delete').mockRejectedValue(new Error('S3 is away'));
    failing.mockRejectedValueOnce(new Error('Connection terminated unexpectedly'));
    const lost = await timeline.as(ann).send('POST', '/blobs', aFile('a.txt', 'text'));
    failing.mockImplementationOnce(async (...blob) => {
      await insert(...blob);
      throw new Error('Connection terminated unexpectedly');
    });
    const kept = await timeline.as(ann).send('POST', '/blobs', aFile('a.txt', 'text'));
    expect([lost.status, kept.status, filesOf(ann.tenantId).length]).toEqual([503, 503, 2]);
    jest.restoreAllMocks();

    await removeInterruptedBlobs(timeline);

    const recorded = await timeline.db.inTenant(ann.tenantId, (tx) =>
      tx.blob.findMany({ select: { id: true } }),
    );
    expect(filesOf(ann.tenantId)).toEqual(recorded.map(({ id }) => id));
    expect(recorded).toHaveLength(1);
  });

  it('leaves a file that is still being sent, however long that takes', async () => {
    const ann = aUser(newId(), 'Ann');
    const content = new PassThrough();
    content.write('x'.repeat(HEAD_LENGTH));
    const inTenant = <Row>(statement: string) =>
      timeline.db.inTenant(ann.tenantId, (tx) => tx.$queryRawUnsafe<Row[]>(statement));
    const isYoung = `SELECT FROM unrecorded_blob WHERE since > now() - interval '1 hour'`;
    jest.useFakeTimers({ doNotFake: ALL_BUT_INTERVALS });
    try {
      const saving = saveBlob(timeline, 'a.txt', content, ann);
      await eventually(async () => (await inTenant(isYoung)).length > 0);
      await inTenant(`UPDATE unrecorded_blob SET since = since - interval '25 hours' RETURNING key`);
      await eventually(() => jest.getTimerCount() > 0);
      jest.advanceTimersByTime(600_000);
      await eventually(async () => (await inTenant(isYoung)).length > 0);

      await removeInterruptedBlobs(timeline);
      content.end();

      expect(await statusOf(ann, (await saving).id)).toBe(200);
    } finally {
      jest.useRealTimers();
      content.destroy();
    }
  });

  it('removes what a crash left of a file, a day or what is set later', async () => {
    const folder = join(timeline.blobFolder, '@partial');
    const left = (name: string, hours: number) => {
      const path = join(folder, name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(path, 'half of it');
      utimesSync(path, new Date(), new Date(Date.now() - hours * 3_600_000));
    };
    left('old.partial', 25);
    left('young.partial', 23);
    const partials = () => readdirSync(folder);

    await removeInterruptedBlobs(timeline);
    expect(partials()).toEqual(['young.partial']);
    const config = { ...timeline.config, BLOB_INTERRUPTED_HOURS: 22 };
    await removeInterruptedBlobs({ ...timeline, config });

    expect(partials()).toEqual([]);
  });
});
