import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { Client } from 'pg';
import { startTimeline, type Timeline } from './start-timeline';

const SUFFIXES_OF_PEOPLE = join(
  __dirname,
  '../prisma/migrations/20261126174600_suffixes_of_people/migration.sql',
);

let timeline: Timeline;
beforeAll(async () => {
  timeline = await startTimeline();
});
afterAll(() => timeline.close());

describe('GET /timeline/mentions', () => {
  const meet = async (tenantId: string, ...names: string[]) => {
    for (const userName of names)
      await timeline.as(aCaller({ tenantId, userName })).get('/notifications/unread-count');
  };
  const suggested = async (tenantId: string, search: string) => {
    const me = aCaller({ tenantId, userName: 'Zoe' });
    const { body } = await timeline.as(me).get(`/timeline/mentions?search=${encodeURIComponent(search)}`);
    return body.map(({ displayName }: { displayName: string }) => displayName);
  };

  it('suggests people of the tenant, best match first', async () => {
    const tenantId = newId();
    await meet(tenantId, 'Joanna', 'Anna Berg', 'Ann', 'Berg, Anna', 'Karl');
    await meet(newId(), 'Anna of another tenant');
    expect(await suggested(tenantId, 'ann')).toEqual(['Ann', 'Anna Berg', 'Berg, Anna', 'Joanna']);
  });

  it('matches %, _ and backslashes literally', async () => {
    const tenantId = newId();
    await meet(tenantId, '100% Ann', 'snake_case', 'back\\slash', 'plain');
    expect(await suggested(tenantId, '%')).toEqual(['100% Ann']);
    expect(await suggested(tenantId, '_')).toEqual(['snake_case']);
    expect(await suggested(tenantId, '\\')).toEqual(['back\\slash']);
  });

  it('suggests everybody once, also behind somebody whose name holds the text 25 times', async () => {
    const { tenantId } = aCaller();
    const often = `B${'a'.repeat(25)}`;
    await meet(tenantId, 'Zab', often);
    expect(await suggested(tenantId, 'a')).toEqual([often, 'Zab']);
  });

  it('suggests 20 people at most, and without a search the first by name', async () => {
    const tenantId = newId();
    await meet(
      tenantId,
      ...Array.from({ length: 22 }, (_, index) => `Person ${String(index).padStart(2, '0')}`),
    );
    expect(await suggested(tenantId, 'person')).toHaveLength(20);
    const me = aCaller({ tenantId, userName: 'Zoe' });
    const { body } = await timeline.as(me).get('/timeline/mentions');
    expect(body[0]).toEqual({ id: expect.any(String), displayName: 'Person 00' });
  });

  it('lists each person once, where what follows the text in their name comes first, in that order', async () => {
    const tenantId = newId();
    await meet(tenantId, 'Anna Ann Annan', 'Xu Anne Ann', 'Zo Anna Xu', 'Joanne Hann', 'Hannah');
    expect(await suggested(tenantId, 'ANN')).toEqual([
      'Anna Ann Annan',
      'Xu Anne Ann',
      'Zo Anna Xu',
      'Joanne Hann',
      'Hannah',
    ]);
  });

  it('finds names in scripts without blanks between words, and by several words', async () => {
    const tenantId = newId();
    await meet(tenantId, '田中太郎', 'Émile Zola', 'Emil Zatopek');
    expect(await suggested(tenantId, '太郎')).toEqual(['田中太郎']);
    expect(await suggested(tenantId, 'ÉMILE zo')).toEqual(['Émile Zola']);
  });

  it('finds people by how their id begins, behind those with such a name', async () => {
    const tenantId = newId();
    const ann = aCaller({ tenantId, userName: 'Ann' });
    await timeline.as(ann).get('/notifications/unread-count');
    await meet(tenantId, `About ${ann.userId}`);
    const begin = ann.userId.slice(0, -1).toUpperCase();
    expect(await suggested(tenantId, begin)).toEqual([`About ${ann.userId}`, 'Ann']);
    expect(await suggested(tenantId, ann.userId.slice(1))).toEqual([`About ${ann.userId}`]);
  });

  it('shows people by the name in their last token', async () => {
    const caller = aCaller({ userName: 'Maiden Name' });
    await timeline.as(caller).get('/notifications/unread-count');
    await timeline.as({ ...caller, userName: 'Married Name' }).get('/notifications/unread-count');
    expect(await suggested(caller.tenantId, 'name')).toEqual(['Married Name']);
    expect(await suggested(caller.tenantId, 'maid')).toEqual([]);
  });

  it('renames people while a migration makes the suffixes of all names, and finds them by the new one only', async () => {
    const { tenantId, userId } = aCaller();
    const admin = new Client({ connectionString: timeline.database!.adminUrl });
    await admin.connect();
    await admin.query('SET session_replication_role = replica');
    await admin.query(
      `INSERT INTO person (tenant_id, user_id, display_name, seen_at) VALUES ($1, $2, 'Ann Former', now())`,
      [tenantId, userId],
    );
    await admin.query('BEGIN');
    await admin.query(readFileSync(SUFFIXES_OF_PEOPLE, 'utf8'));
    const renamed = aCaller({ tenantId, userId, userName: 'Ann Newer' });
    const { status } = await timeline.as(renamed).get('/notifications/unread-count');
    await admin.query('COMMIT');
    await admin.end();

    expect(status).toBe(200);
    expect(await suggested(tenantId, 'ann')).toEqual(['Ann Newer']);
    expect(await suggested(tenantId, 'newer')).toEqual(['Ann Newer']);
    expect(await suggested(tenantId, 'former')).toEqual([]);
  });

  it('refuses a search of 501 characters', async () => {
    const { status } = await timeline.as(aCaller()).get(`/timeline/mentions?search=${'x'.repeat(501)}`);
    expect(status).toBe(422);
  });

  it('refuses a search that repeats itself, which would be compared with each character of each name', async () => {
    const { status, body } = await timeline.as(aCaller()).get(`/timeline/mentions?search=${'x'.repeat(200)}`);
    expect([status, body.errors]).toEqual([422, { search: ['Service:Validation:FormatValidator'] }]);
    expect(body.detail).toContain('repeats');
  });
});

describe('GET /timeline/people', () => {
  it('returns the names of people by their ids, of those who were seen in the tenant', async () => {
    const ann = aCaller({ userName: 'Ann' });
    const bob = aCaller({ tenantId: ann.tenantId, userName: 'Bob' });
    const eve = aCaller({ userName: 'Eve' });
    for (const caller of [ann, bob, eve]) await timeline.as(caller).get('/notifications/unread-count');

    const ids = [bob.userId, 'nobody', eve.userId, ann.userId].map(encodeURIComponent).join();
    const { body } = await timeline.as(ann).get(`/timeline/people?ids=${ids}`);

    expect(body).toEqual([
      { id: bob.userId, displayName: 'Bob' },
      { id: ann.userId, displayName: 'Ann' },
    ]);
  });

  it('refuses no id, an empty one, and more than 100', async () => {
    const queries = ['', '?ids=', '?ids=a,,b', `?ids=${Array(101).fill('a').join()}`];
    for (const query of queries)
      expect((await timeline.as(aCaller()).get(`/timeline/people${query}`)).status).toBe(422);
  });
});
