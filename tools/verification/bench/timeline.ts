import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { BenchLine } from './bench-line.ts';
import type { BenchTarget } from './platform.ts';

const ENTRIES = 1_000_000;
const DEPTH_PAGES = 500;
const PAGES_MEASURED = 200;
const FOLLOWERS = 20;
const POSTS_MEASURED = 100;
const TRANSITION_SECONDS = 5;
const TRANSITION_CLIENTS = 8;

/** Pages at depth, posts to followers, and transitions on one and on many entities. */
export async function benchTimeline(target: BenchTarget): Promise<BenchLine[]> {
  const tenantId = randomUUID();
  await seedEntries(target, tenantId);
  return [
    await pagesAtDepth(target, tenantId),
    await postToFollowers(target, tenantId),
    ...(await transitions(target, tenantId)),
  ];
}

/** One entity with a million entries, every tenth of them an internal note. */
async function seedEntries(target: BenchTarget, tenantId: string): Promise<void> {
  const client = new pg.Client({ connectionString: target.databaseUrlOf('timeline') });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SELECT set_config('plinth.tenant_id', $1, true)`, [tenantId]);
    await client.query(
      `INSERT INTO entry (tenant_id, id, entity_type, entity_id, entry_type, body, author_id, author_display_name, created_at)
       SELECT $1::uuid, gen_random_uuid(), 'Bench', 'deep', CASE WHEN n % 10 = 0 THEN 1 ELSE 0 END, 'entry ' || n,
         'ada', 'Ada', now() - make_interval(secs => n) FROM generate_series(1, ${ENTRIES}) AS n`,
      [tenantId],
    );
    await client.query('INSERT INTO entry_count VALUES ($1, $2, $3, $4, $5)', [
      tenantId,
      'Bench',
      'deep',
      (ENTRIES * 9) / 10,
      ENTRIES / 10,
    ]);
    await client.query('COMMIT');
    await client.query('ANALYZE entry');
  } finally {
    await client.end();
  }
}

async function pagesAtDepth(target: BenchTarget, tenantId: string): Promise<BenchLine> {
  const person = await signIn(target, tenantId, 'reader');
  const page = (cursor: string, pageSize = 20) =>
    person.get(`/timeline/Bench/deep?pageSize=${pageSize}&cursor=${encodeURIComponent(cursor)}`);
  let deep = '';
  for (let count = 0; count < DEPTH_PAGES; count++) deep = (await page(deep, 100)).nextCursor;
  const first: number[] = [];
  const atDepth: number[] = [];
  // Alternately, so that load on the machine affects both.
  for (let count = 0; count < PAGES_MEASURED; count++) {
    first.push(await timeOf(() => page('')));
    atDepth.push(await timeOf(() => page(deep)));
  }
  const ratio = median(atDepth) / median(first);
  return {
    job: `timeline page at depth ${DEPTH_PAGES * 100}, ${ENTRIES} entries on one entity, cursor`,
    measured: `${median(atDepth).toFixed(1)} ms`,
    reference: `first page ${median(first).toFixed(1)} ms`,
    ratio,
    goal: 1.2,
  };
}

async function postToFollowers(target: BenchTarget, tenantId: string): Promise<BenchLine> {
  const writer = await signIn(target, tenantId, 'writer');
  for (let count = 0; count < FOLLOWERS; count++) {
    const follower = await signIn(target, tenantId, `follower-${count}`);
    await follower.post('/timeline/Bench/followed/follow');
  }
  const times = { followed: [] as number[], lonely: [] as number[] };
  for (let count = 0; count < POSTS_MEASURED; count++) {
    for (const entity of ['followed', 'lonely'] as const) {
      const body = { entryType: 0, body: `entry ${count}` };
      times[entity].push(await timeOf(() => writer.post(`/timeline/Bench/${entity}/entries`, body)));
    }
  }
  return {
    job: `timeline post with ${FOLLOWERS} followers`,
    measured: `${median(times.followed).toFixed(1)} ms`,
    reference: `without followers ${median(times.lonely).toFixed(1)} ms`,
    ratio: median(times.followed) / median(times.lonely),
  };
}

async function transitions(target: BenchTarget, tenantId: string): Promise<BenchLine[]> {
  const people = await Promise.all(
    Array.from({ length: TRANSITION_CLIENTS }, (_, index) => signIn(target, tenantId, `mover-${index}`)),
  );
  const move = async (person: Person, entity: string): Promise<number> => {
    const responses = [
      await person.post(`/workflow/Invoice/${entity}/transition`, { targetState: 'Submitted' }),
      await person.post(`/workflow/Invoice/${entity}/transition`, { targetState: 'Draft' }),
    ];
    return responses.filter(({ outcome }) => outcome === 'Completed').length;
  };
  const perSecond = async (entityOf: (index: number) => string): Promise<number> => {
    const endsAt = performance.now() + TRANSITION_SECONDS * 1_000;
    const counts = await Promise.all(
      people.map(async (person, index) => {
        let count = 0;
        while (performance.now() < endsAt) count += await move(person, entityOf(index));
        return count;
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0) / TRANSITION_SECONDS;
  };
  const many = await perSecond((index) => `bench-${index}`);
  const one = await perSecond(() => 'bench-one');
  return [
    {
      job: `workflow transitions, ${TRANSITION_CLIENTS} clients`,
      measured: `${many.toFixed(0)} per second on ${TRANSITION_CLIENTS} entities`,
      reference: `${one.toFixed(0)} per second on one entity`,
    },
  ];
}

interface Person {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are read without types here
  get(path: string): Promise<any>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
  post(path: string, body?: unknown): Promise<any>;
}

/** Signs in with the development issuer as an administrator of the tenant. */
async function signIn({ url }: BenchTarget, tenantId: string, sub: string): Promise<Person> {
  const json = { 'content-type': 'application/json' };
  const claims = JSON.stringify({ sub, name: sub, tenantId, roles: ['admin'] });
  const response = await fetch(`${url}/dev/token`, { method: 'POST', headers: json, body: claims });
  const { accessToken } = (await response.json()) as { accessToken: string };
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { ...json, authorization: `Bearer ${accessToken}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} is ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  return { get: (path) => send('GET', path), post: (path, body) => send('POST', path, body) };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

const median = (values: readonly number[]): number =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
