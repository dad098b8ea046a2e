import { readdirSync } from 'node:fs';
import { systemClock } from '@plinth/kernel/clock';
import { newId } from '@plinth/kernel/uuid';
import type { TestResponse } from '@plinth/testing/http';
import { unusedBlobs } from '../src/store/unused-blobs';
import { aFile } from './a-file';
import { aUser, startTimeline, type Timeline } from './start-timeline';

let patient: Timeline;
/** A replica whose files are due as soon as they are uploaded. */
let hasty: Timeline;
beforeAll(async () => {
  patient = await startTimeline();
  const { databaseUrl, natsPrefix, blobFolder } = patient;
  hasty = await startTimeline({
    databaseUrl,
    natsPrefix,
    environment: { BLOB_URL: `file://${blobFolder}`, BLOB_UNATTACHED_HOURS: '1e-9' },
  });
});
afterAll(async () => {
  await hasty.close();
  await patient.close();
});

type User = ReturnType<typeof aUser>;
const upload = async (replica: Timeline, user: User): Promise<string> =>
  (await replica.as(user).send('POST', '/blobs', aFile('a.txt', 'text'))).body.id;
const attach = (user: User, path: string, ...attachmentBlobIds: string[]): Promise<TestResponse> =>
  patient.as(user).post(`${path}/entries`, { entryType: 0, body: 'x', attachmentBlobIds });
const statusOf = async (user: User, id: string) => (await patient.as(user).get(`/blobs/${id}`)).status;
const filesOf = (tenantId: string): string[] =>
  readdirSync(patient.blobFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.includes(tenantId))
    .map(({ name }) => name);

const anEntity = () => `/timeline/Invoice/${newId()}`;

describe('a file that was uploaded', () => {
  it('is removed when its time has come and nothing refers to it', async () => {
    const ann = aUser(newId(), 'Ann');
    const early = await upload(patient, ann);
    const due = await upload(hasty, ann);

    await patient.unusedBlobs.remove();

    expect([await statusOf(ann, early), await statusOf(ann, due)]).toEqual([200, 404]);
    expect(filesOf(ann.tenantId)).toHaveLength(1);
    expect((await attach(ann, anEntity(), due)).body.errors).toHaveProperty(['attachmentBlobIds[0]']);
  });

  it('stays as long as one entry has it', async () => {
    const ann = aUser(newId(), 'Ann');
    const id = await upload(hasty, ann);
    const [one, other] = [anEntity(), anEntity()];
    const entries = [await attach(ann, one, id), await attach(ann, other, id)];

    await patient.unusedBlobs.remove();
    await patient.as(ann).delete(`${one}/entries/${entries[0]!.body.id}`);
    await patient.unusedBlobs.remove();
    expect(await statusOf(ann, id)).toBe(200);

    await patient.as(ann).delete(`${other}/entries/${entries[1]!.body.id}`);
    await patient.unusedBlobs.remove();
    expect(await statusOf(ann, id)).toBe(404);
    expect(filesOf(ann.tenantId)).toEqual([]);
  });

  it('is either attached and kept, or refused and removed, when both happen at once', async () => {
    const ann = aUser(newId(), 'Ann');
    const path = anEntity();
    const ids = await Promise.all(Array.from({ length: 40 }, () => upload(hasty, ann)));

    const answers = await Promise.all(
      ids.flatMap((id, index) => [
        attach(ann, path, id),
        ...(index % 4 === 0 ? [patient.unusedBlobs.remove(), hasty.unusedBlobs.remove()] : []),
      ]),
    );

    const attached = answers.filter((answer) => typeof answer !== 'boolean');
    expect(attached.map(({ status }) => status).filter((status) => status !== 201 && status !== 422)).toEqual(
      [],
    );
    const statuses = await Promise.all(ids.map((id) => statusOf(ann, id)));
    expect(statuses).toEqual(attached.map(({ status }) => (status === 201 ? 200 : 404)));
  });

  it('is removed by the next sweep when one died in the middle', async () => {
    const ann = aUser(newId(), 'Ann');
    const id = await upload(hasty, ann);
    const dying = {
      ...patient.blobs,
      delete: async () => {
        throw new Error('The power went out.');
      },
    };
    await expect(unusedBlobs(patient.db, dying, systemClock).remove()).rejects.toThrow('power');
    expect(await statusOf(ann, id)).toBe(404);

    await patient.unusedBlobs.remove();

    expect(filesOf(ann.tenantId)).toEqual([]);
  });
});
