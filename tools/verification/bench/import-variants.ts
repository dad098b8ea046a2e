import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Papa from 'papaparse';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { BenchLine } from './bench-line.ts';
import { mapFile, reportOf, signInToTenant, timeExecution } from './exchange-jobs.ts';
import type { BenchTarget } from './platform.ts';
import { describeUsage, watchProcesses, type ProcessUsage } from './processes.ts';
import { readCldrRows, type Row } from '../../development/demo/cldr-rows.ts';
import { inTemporaryFolder } from './temporary-folder.ts';
import { seconds, timeOf } from './times.ts';

const COMPANIES = 1_000;
const INSERT_GOAL = 2.5;
const UPDATE_GOAL = 1.5;
const FEW_ERRORS_GOAL = 1.1;
/** A dry-run takes no longer than the import. */
const DRY_RUN_GOAL = 1;

/** Data that is imported: the rows of a file, and the same rows in the table. */
interface Kind {
  definition: string;
  service: string;
  table: string;
  header: readonly string[];
  row(number: number): string[];
  /** Columns of the table with the values of a row, beside tenant and id. */
  columns: readonly string[];
  values(cells: readonly string[]): string[];
  key: readonly string[];
}

const overrides: Kind = {
  definition: 'Localization.Overrides',
  service: 'localization',
  table: 'override',
  header: ['Resource', 'Culture', 'Key', 'Value'],
  row: (number) => ['Shop', 'fr', `name.of.the.article.${number}`, `Article numéro ${number}`],
  columns: ['modified_by', 'resource_name', 'culture_name', 'key', 'value'],
  values: (cells) => ['bench', ...cells],
  key: ['resource_name', 'culture_name', 'key'],
};
let names: Row[] | undefined;
/** As many rows as there are real names, or fewer. */
const realNames: Kind = { ...overrides, row: (number) => (names ??= readCldrRows())[number - 1]! };
const companies: Kind = {
  definition: 'Contacts.Companies',
  service: 'contacts',
  table: 'company',
  header: ['External id', 'Name', 'Kind', 'Active', 'Founded on', 'Credit limit'],
  row: (number) => [`C-${number}`, `Company ${number}`, 'Customer', 'true', '1990-05-04', '1000.50'],
  columns: [
    'created_by',
    'changed_by',
    'external_id',
    'name',
    'kind',
    'is_active',
    'founded_on',
    'credit_limit',
  ],
  values: (cells) => ['bench', 'bench', ...cells],
  key: ['external_id'],
};
const contacts: Kind = {
  definition: 'Contacts.Contacts',
  service: 'contacts',
  table: 'contact',
  header: ['External id', 'Last name', 'Preferred channel', 'Company external id'],
  row: (number) => [`P-${number}`, 'Lovelace', 'Email', `C-${number % COMPANIES}`],
  columns: ['created_by', 'changed_by', 'external_id', 'last_name', 'channel', 'company_id'],
  values: ([externalId, lastName, channel, company]) => [
    'bench',
    'bench',
    externalId!,
    lastName!,
    channel!,
    idOf(Number(company!.slice(2))),
  ],
  key: ['external_id'],
};

/** A file that differs from a clean one. */
interface Variant {
  name: string;
  kind: Kind;
  /** Breaks a row. */
  broken?: (cells: string[], number: number) => string[];
  /** One row of so many is broken. */
  every?: number;
  /** Rows that are in the table already, of each ten. */
  storedOfTen?: number;
  ids?: boolean;
  dryRun?: boolean;
  moreColumns?: number;
}

const faults: [string, Kind, NonNullable<Variant['broken']>][] = [
  ['validation', overrides, (cells) => cells.with(0, '')],
  ['conversion', companies, (cells) => cells.with(3, 'perhaps')],
  ['duplicate key', overrides, (_cells, number) => overrides.row(number - 1)],
  ['too many cells', overrides, (cells) => [...cells, 'more']],
  ['unknown relation', contacts, (cells) => cells.with(3, 'nowhere')],
];

const variants: Variant[] = [
  ...[overrides, companies, contacts].map((kind) => ({ name: `clean ${kind.table}`, kind })),
  { name: 'ten columns more', kind: overrides, moreColumns: 10 },
  { name: 'clean real names', kind: realNames },
  {
    name: 'duplicate key, 0.2 % of real names',
    kind: realNames,
    every: 500,
    broken: (_cells, number) => realNames.row(number - 1),
  },
  { name: 'dry-run', kind: overrides, dryRun: true },
  { name: 'half updates', kind: overrides, storedOfTen: 5 },
  { name: 'all updates', kind: overrides, storedOfTen: 10 },
  { name: 'all updates by id', kind: overrides, storedOfTen: 10, ids: true },
  ...[100, 5].map((every) => ({
    name: `constraint by id, ${100 / every} %`,
    kind: overrides,
    storedOfTen: 10,
    ids: true,
    every,
    broken: (_cells: string[], number: number) => overrides.row(number - 1),
  })),
  ...faults.flatMap(([name, kind, broken]) =>
    [100, 5].map((every) => ({ name: `${name}, ${100 / every} %`, kind, broken, every })),
  ),
];

/**
 * Imports with errors of every kind, updates, ids and relations, each beside what the database alone takes. It takes
 * minutes, so each line is reported when it is measured.
 */
export const benchVariants = (
  target: BenchTarget,
  { rowCount, only, report }: { rowCount: number; only: string[]; report: (line: BenchLine) => void },
): Promise<void> =>
  inTemporaryFolder(async (folder) => {
    const wanted = variants.filter(
      ({ name }) => only.length === 0 || only.some((part) => name.includes(part)),
    );
    for (const kind of new Set(wanted.map((variant) => variant.kind)))
      await measure(target, folder, { name: 'warm-up', kind }, Math.min(rowCount, 50_000));
    for (const variant of wanted) {
      const { kind, dryRun = false, every = 0, storedOfTen = 0 } = variant;
      const isUpdate = storedOfTen > 0;
      const isBesideClean = dryRun || (every >= 100 && !isUpdate);
      const measureClean = async () =>
        isBesideClean ? [await measure(target, folder, { name: 'clean', kind }, rowCount)] : [];
      // The table grows by each import: a clean one before and one after are in the same place as this one.
      const before = await measureClean();
      const { spent, reference, usage } = await measure(target, folder, variant, rowCount);
      const clean = [...before, ...(await measureClean())];
      const beside = isBesideClean ? mean(clean.map((measured) => measured.spent)) : reference;
      report({
        job: `${variant.name}: ${rowCount.toLocaleString('en')} rows`,
        measured: describeSpent(spent),
        reference: `${isBesideClean ? 'clean' : isUpdate ? 'upsert from a staging table' : 'COPY'} ${describeSpent(beside)}`,
        ratio: spent.milliseconds / beside.milliseconds,
        goal: goalOf(variant),
        details: [
          ...describeUsage(usage),
          // Of the one after: as warm as the variant.
          ...clean.slice(-1).flatMap((after) => describeUsage(after.usage).map((line) => `clean: ${line}`)),
        ],
      });
    }
  });

function goalOf({ dryRun, every = 0, storedOfTen = 0 }: Variant): number {
  if (dryRun) return DRY_RUN_GOAL;
  if (storedOfTen > 0) return UPDATE_GOAL;
  return every >= 100 ? FEW_ERRORS_GOAL : INSERT_GOAL;
}

/** On a machine that others use too, only processor time can be compared. */
interface Spent {
  milliseconds: number;
  cpuSeconds: number;
}

const describeSpent = ({ milliseconds, cpuSeconds }: Spent): string =>
  `${seconds(milliseconds)}, ${cpuSeconds.toFixed(1)} s CPU`;

const sum = (left: Spent, right: Spent): Spent => ({
  milliseconds: left.milliseconds + right.milliseconds,
  cpuSeconds: left.cpuSeconds + right.cpuSeconds,
});

const mean = (all: readonly Spent[]): Spent => {
  const { milliseconds, cpuSeconds } = all.reduce(sum);
  return { milliseconds: milliseconds / all.length, cpuSeconds: cpuSeconds / all.length };
};

/** @param work returns how many milliseconds it took */
async function spend(
  processes: BenchTarget['processes'],
  work: () => Promise<number>,
): Promise<{ spent: Spent; usage: ProcessUsage[] }> {
  const end = watchProcesses(processes);
  const milliseconds = await work();
  const usage = end();
  return {
    spent: { milliseconds, cpuSeconds: usage.reduce((all, { cpuSeconds }) => all + cpuSeconds, 0) },
    usage,
  };
}

async function measure(target: BenchTarget, folder: string, variant: Variant, rowCount: number) {
  const { kind, dryRun, storedOfTen = 0 } = variant;
  const tenantId = randomUUID();
  const client = await signInToTenant(target, tenantId);
  const file = join(folder, 'variant.csv');
  await writeFile(file, variant, rowCount);
  const database = new pg.Client({ connectionString: target.adminUrlOf(kind.service) });
  await database.connect();
  try {
    const server = { database, processes: target.processes.filter(({ name }) => name === 'postgres') };
    if (kind === contacts) await copyRows(server, folder, companies, tenantId, COMPANIES, 10);
    const reference = await spendOnReference(server, folder, variant, rowCount);
    if (storedOfTen > 0) await copyRows(server, folder, kind, tenantId, rowCount, storedOfTen);
    await database.query(`VACUUM (ANALYZE) ${kind.table}`);
    const jobId = await mapFile(client, file, kind.definition);
    const { spent, usage } = await spend(target.processes, () =>
      dryRun ? timeOf(() => client.call('POST', `/imports/${jobId}/dry-run`)) : timeExecution(client, jobId),
    );
    const { totalRows } = dryRun ? { totalRows: rowCount } : await reportOf(client, jobId);
    if (totalRows !== rowCount)
      throw new Error(`${variant.name}: ${totalRows} of ${rowCount} rows were read.`);
    return { spent, usage, reference };
  } finally {
    await database.end();
  }
}

const isStored = (number: number, storedOfTen: number): boolean => number % 10 < storedOfTen;
const idOf = (number: number): string => `01900000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;

async function writeFile(
  path: string,
  { kind, broken, every = Infinity, ids, moreColumns = 0 }: Variant,
  rowCount: number,
): Promise<void> {
  const more = Array.from({ length: moreColumns }, (_, index) => `More ${index}`);
  const lines = function* () {
    yield `${Papa.unparse([[...(ids ? ['Id'] : []), ...kind.header, ...more]])}\r\n`;
    for (let number = 1; number <= rowCount; number++) {
      const cells = kind.row(number);
      const written = broken && number % every === 0 ? broken(cells, number) : cells;
      yield `${Papa.unparse([[...(ids ? [idOf(number)] : []), ...written, ...more]])}\r\n`;
    }
  };
  await pipeline(Readable.from(lines()), createWriteStream(path));
}

/** A connection to the database, and the processes that work for it. */
interface Server {
  database: pg.Client;
  processes: BenchTarget['processes'];
}

/** Puts rows of a tenant into a table by COPY, each with the job and the row of a file that it came from, as imports do. */
async function copyRows(
  { database, processes }: Server,
  folder: string,
  { table, columns, row, values }: Kind,
  tenantId: string,
  rowCount: number,
  storedOfTen: number,
  into = table,
): Promise<Spent> {
  const path = join(folder, 'copy.txt');
  const jobId = randomUUID();
  const lines = function* () {
    for (let number = table === 'company' && rowCount === COMPANIES ? 0 : 1; number <= rowCount; number++)
      if (isStored(number, storedOfTen))
        yield `${[tenantId, idOf(number), ...values(row(number)), jobId, number].join('\t')}\n`;
  };
  await pipeline(Readable.from(lines()), createWriteStream(path));
  const names = ['tenant_id', 'id', ...columns, 'import_job_id', 'import_row'];
  const statement = `COPY ${into} (${names.join(', ')}) FROM STDIN`;
  const { spent } = await spend(processes, () =>
    timeOf(() => pipeline(createReadStream(path), database.query(copyFrom(statement)))),
  );
  return spent;
}

/** The same rows by the database alone; files that update come from a staging table, and former rows are stored as imports do. */
async function spendOnReference(
  server: Server,
  folder: string,
  { kind, storedOfTen = 0 }: Variant,
  rowCount: number,
): Promise<Spent> {
  const tenantId = randomUUID();
  const { database, processes } = server;
  const { table, columns, key } = kind;
  const tables = kind === contacts ? ['exchange_former', table, companies.table] : ['exchange_former', table];
  try {
    if (kind === contacts) await copyRows(server, folder, companies, tenantId, COMPANIES, 10);
    if (storedOfTen === 0) return await copyRows(server, folder, kind, tenantId, rowCount, 10);
    await copyRows(server, folder, kind, tenantId, rowCount, storedOfTen);
    await database.query(`VACUUM (ANALYZE) ${table}`);
    const names = ['tenant_id', 'id', ...columns].join(', ');
    await database.query(
      `CREATE TEMP TABLE staging AS SELECT ${names}, import_job_id, import_row FROM ${table} LIMIT 0`,
    );
    const staged = await copyRows(server, folder, kind, tenantId, rowCount, 10, 'staging');
    const updates = columns.filter((column) => !key.includes(column));
    const { spent: upserted } = await spend(processes, () =>
      timeOf(() =>
        database.query(
          `INSERT INTO ${table} AS t (${names}, import_job_id, import_row)
         SELECT ${names}, '${randomUUID()}', 1 FROM staging
         ON CONFLICT (tenant_id, ${key.join(', ')})
         DO UPDATE SET ${updates.map((column) => `${column} = EXCLUDED.${column}`).join(', ')},
           import_job_id = EXCLUDED.import_job_id
         WHERE exchange_keep_former(t.tenant_id, t.id, EXCLUDED.import_job_id, 1, to_jsonb(t), t.xmin::text)`,
        ),
      ),
    );
    return sum(staged, upserted);
  } finally {
    await database.query('DROP TABLE IF EXISTS staging');
    for (const name of tables) await database.query(`DELETE FROM ${name} WHERE tenant_id = $1`, [tenantId]);
    await database.query(`VACUUM (ANALYZE) ${table}`);
  }
}
