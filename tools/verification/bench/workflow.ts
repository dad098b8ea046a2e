import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { BenchLine } from './bench-line.ts';
import type { BenchTarget } from './platform.ts';

const MOVES = 200_000;
const PAGES_MEASURED = 200;
const APPROVALS_MEASURED = 100;

/** The cost of a long history, and of an approval compared with a plain move. Moves per second: see `timeline`. */
export async function benchWorkflow(target: BenchTarget): Promise<BenchLine[]> {
  const tenantId = randomUUID();
  await seedHistory(target, tenantId);
  return [await historyAtDepth(target, tenantId), await approval(target, tenantId)];
}

/** One entity with a long history of moves. */
async function seedHistory(target: BenchTarget, tenantId: string): Promise<void> {
  const client = new pg.Client({ connectionString: target.databaseUrlOf('workflow') });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SELECT set_config('plinth.tenant_id', $1, true)`, [tenantId]);
    await client.query(
      `INSERT INTO entity (tenant_id, entity_type, entity_id, state, revision, moves, changed_at)
       VALUES ($1, 'Invoice', 'deep', 'Draft', ${MOVES}, ${MOVES}, now())`,
      [tenantId],
    );
    await client.query(
      `INSERT INTO move (tenant_id, entity_type, entity_id, position, id, transition_name, previous_state, new_state,
         transitioned_at, transitioned_by, transitioned_by_name)
       SELECT $1::uuid, 'Invoice', 'deep', n, gen_random_uuid(), CASE n % 2 WHEN 1 THEN 'Submit' ELSE 'Return' END,
         CASE n % 2 WHEN 1 THEN 'Draft' ELSE 'Submitted' END, CASE n % 2 WHEN 1 THEN 'Submitted' ELSE 'Draft' END,
         now() - make_interval(secs => ${MOVES} - n), 'ada', 'Ada' FROM generate_series(1, ${MOVES}) AS n`,
      [tenantId],
    );
    await client.query('COMMIT');
    await client.query('ANALYZE move');
  } finally {
    await client.end();
  }
}

async function historyAtDepth(target: BenchTarget, tenantId: string): Promise<BenchLine> {
  const reader = await signIn(target, tenantId, 'reader');
  const page = (number: number) => reader.get(`/workflow/Invoice/deep/history?pageSize=20&page=${number}`);
  const depth = MOVES / 20 / 2;
  const first: number[] = [];
  const atDepth: number[] = [];
  // Alternately, so that load on the machine affects both.
  for (let count = 0; count < PAGES_MEASURED; count++) {
    first.push(await timeOf(() => page(1)));
    atDepth.push(await timeOf(() => page(depth)));
  }
  return {
    job: `workflow history, page ${depth} of ${MOVES} moves`,
    measured: `${median(atDepth).toFixed(1)} ms`,
    reference: `first page ${median(first).toFixed(1)} ms`,
    ratio: median(atDepth) / median(first),
    goal: 1.2,
  };
}

async function approval(target: BenchTarget, tenantId: string): Promise<BenchLine> {
  const [ann, bob] = [await signIn(target, tenantId, 'ann'), await signIn(target, tenantId, 'bob')];
  const plain: number[] = [];
  const approved: number[] = [];
  for (let count = 0; count < APPROVALS_MEASURED; count++) {
    const path = `/workflow/Invoice/approved-${count}/transition`;
    plain.push(await timeOf(() => ann.post(path, { targetState: 'Submitted' })));
    const askAndApprove = async () => {
      await ann.post(path, { targetState: 'Approved' });
      await bob.post(path, { targetState: 'Approved' });
    };
    approved.push(await timeOf(askAndApprove));
  }
  return {
    job: 'workflow approval, asked for and given',
    measured: `${median(approved).toFixed(1)} ms`,
    reference: `plain move ${median(plain).toFixed(1)} ms`,
    ratio: median(approved) / median(plain),
  };
}

/** Signs in with the development issuer as an administrator of the tenant. */
async function signIn({ url }: BenchTarget, tenantId: string, sub: string) {
  const json = { 'content-type': 'application/json' };
  const claims = JSON.stringify({ sub, name: sub, tenantId, roles: ['admin'] });
  const issued = await fetch(`${url}/dev/token`, { method: 'POST', headers: json, body: claims });
  const { accessToken } = (await issued.json()) as { accessToken: string };
  const headers = { ...json, authorization: `Bearer ${accessToken}` };
  const send = async (path: string, init: RequestInit): Promise<void> => {
    const response = await fetch(`${url}/api/v1${path}`, { ...init, headers });
    const text = await response.text();
    if (!response.ok || /Denied|InvalidTransition/.test(text))
      throw new Error(`${path}: ${response.status} ${text}`);
  };
  return {
    get: (path: string) => send(path, {}),
    post: (path: string, body: unknown) => send(path, { method: 'POST', body: JSON.stringify(body) }),
  };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

const median = (values: readonly number[]): number =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
