import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { createPool } from '@plinth/runtime/postgres/postgres';
import { silentLog } from '@plinth/runtime/process/log';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';

/** One step of a statement that was executed, and how much of a table it read. */
export interface TableRead {
  /** The statistics, and the kind of plan. */
  plans: string;
  statement: string;
  table: string;
  access: string;
  /** Rows that the step read, kept or not. */
  rows: number;
  /** Pages of the table and its indexes that it touched. */
  pages: number;
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

interface Explained {
  'Query Text': string;
  Plan: PlanNode;
}

const EXPLAIN = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_format': 'json',
  'auto_explain.log_level': 'notice',
};

/** The rows of a table whose statements are explained. */
export interface FilledTables {
  url: string;
  adminUrl: string;
  /** Inserts rows of a tenant, numbered from 1. */
  fill(admin: Client, tenantId: string, rowCount: number): Promise<unknown>;
  /**
   * Work on a pool of requests, whose transactions say how they are planned. What is planned once is also tried with plans
   * that were made while the tables had a few rows.
   */
  isOfRequests?: boolean;
}

const FIRST_ROWS = 20;
const KNOWN_ROWS = 2_000;
/** Of one row: its place in indexes of a few levels, and the row itself. */
const PAGES_PER_ROW = 10;
/** However few rows it asks for, a statement passes over those that were deleted before its first one. */
const PAGES_OF_STATEMENT = 40;
/** The row that is wanted, its neighbours in the index, and what is looked at again. */
const READS_PER_ROW = 4;

/** What reads more of a table than so many rows need; a constraint is checked row by row, so it is listed once. */
export function excessiveOf(reads: readonly TableRead[], rowsAsked: number): TableRead[] {
  if (reads.length === 0) throw new Error('No statement was explained.');
  const excessive = reads.filter(
    ({ rows, pages }) =>
      rows > rowsAsked * READS_PER_ROW || pages > Math.max(PAGES_OF_STATEMENT, rowsAsked * PAGES_PER_ROW),
  );
  return [
    ...new Map(excessive.map((read) => [`${read.plans} ${read.access} ${read.statement}`, read])).values(),
  ];
}

/**
 * Does work for a tenant with many rows under all plans that Postgres may choose: its statistics know only another
 * tenant, or nothing, or everything; plans are made for the values of a statement, or for any. Returns what each step of
 * each statement has read, those of functions and constraints included.
 */
export async function readsUnderAllPlans(
  { url, adminUrl, fill, isOfRequests = false }: FilledTables,
  tenant: { id: string; rowCount: number },
  work: (pool: FairPool, label: string) => Promise<void>,
): Promise<TableRead[]> {
  const reads: TableRead[] = [];
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  try {
    await admin.query(WITHOUT_AUTOVACUUM);
    await set(admin, EXPLAIN);
    if (isOfRequests) {
      const pool = createPool(url, silentLog(), { pipeline: true, tenantConnections: 1 });
      const plan = async () => {
        await fill(admin, tenant.id, FIRST_ROWS);
        await work(pool, 'a few');
        await admin.query(DELETE);
        await fill(admin, tenant.id, tenant.rowCount);
      };
      const found = await readsOf(pool, () => work(pool, 'many'), plan);
      reads.push(...found.map((read) => ({ ...read, plans: 'made for a few rows' })));
      await pool.end();
    } else await fill(admin, tenant.id, tenant.rowCount);
    // Tables and indexes in life are larger than their rows.
    await admin.query(DELETE);
    await fill(admin, newId(), KNOWN_ROWS);
    await admin.query('ANALYZE');
    await fill(admin, tenant.id, tenant.rowCount);
    for (const [state, change] of [
      ['stale', ''],
      ['absent', FORGET_STATISTICS],
      ['fresh', 'ANALYZE'],
    ] as const) {
      if (change) await admin.query(change);
      for (const kind of isOfRequests ? ['custom'] : ['custom', 'generic']) {
        await set(admin, { plan_cache_mode: `force_${kind}_plan` });
        const pool = createPool(url, silentLog(), { pipeline: isOfRequests });
        const found = await readsOf(pool, () => work(pool, `${state}, ${kind}`));
        reads.push(...found.map((read) => ({ ...read, plans: `${state}, ${kind}` })));
        await pool.end();
      }
    }
  } finally {
    await admin.end();
  }
  return reads;
}

const WITHOUT_AUTOVACUUM = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT oid::regclass FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP
    EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', name);
  END LOOP;
END $$`;

/** Rows of all tenants but the host tenant, whatever refers to them; unlike `TRUNCATE` it lets connections keep their plans. */
const DELETE = `SET session_replication_role = replica; DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT attrelid::regclass FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE attname = 'tenant_id' AND relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP
    EXECUTE format('DELETE FROM %s WHERE tenant_id <> %L', name, '${HOST_TENANT_ID}');
  END LOOP;
END $$; RESET session_replication_role`;

const FORGET_STATISTICS = `
  DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace);
  SELECT pg_clear_relation_stats('public', relname) FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`;

/** For the sessions that begin from now on. */
async function set(admin: Client, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings))
    await admin.query(
      `ALTER DATABASE ${escapeIdentifier(admin.database!)} SET ${name} = ${escapeLiteral(value)}`,
    );
}

/** @param before what is done on the same connections and not listed */
async function readsOf(
  pool: FairPool,
  work: () => Promise<void>,
  before = () => Promise.resolve(),
): Promise<Omit<TableRead, 'plans'>[]> {
  const reads: Omit<TableRead, 'plans'>[] = [];
  const onNotice = ({ message = '' }: { message?: string | undefined }) => {
    const explained = /plan:\s*(\{.*\})\s*$/s.exec(message)?.[1];
    if (!explained) return;
    const { 'Query Text': statement, Plan } = JSON.parse(explained) as Explained;
    reads.push(...stepsOf(Plan).map((step) => ({ ...step, statement: statement.replace(/\s+/g, ' ') })));
  };
  pool.on('connect', (connection) => connection.on('notice', onNotice));
  await before();
  reads.length = 0;
  await work();
  return reads;
}

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}

const isOfOwnTable = (node: PlanNode): boolean => !(node['Relation Name'] ?? 'pg_').startsWith('pg_');

const stepsOf = (plan: PlanNode): Omit<TableRead, 'statement' | 'plans'>[] =>
  [...nodesOf(plan)]
    .filter((node) => isOfOwnTable(node) && node['Node Type'].endsWith('Scan'))
    .map((node) => {
      const rows =
        (node['Actual Rows'] ?? 0) +
        (node['Rows Removed by Filter'] ?? 0) +
        (node['Rows Removed by Index Recheck'] ?? 0);
      return {
        table: node['Relation Name']!,
        access: [node['Node Type'], node['Index Name']].filter(Boolean).join(' '),
        rows: Math.round(rows * (node['Actual Loops'] ?? 0)),
        pages: (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0),
      };
    });
