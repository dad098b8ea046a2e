import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import iconv from 'iconv-lite';
import type { Caller } from '@plinth/kernel/caller';
import { aCaller } from '@plinth/testing/http';
import { randomArticles, unicode } from './random-articles';
import {
  exportFile,
  mappedImport,
  reportOf,
  startDataExchange,
  type DataExchange,
} from './start-data-exchange';

/** `npm run round-trip` has a million of them. */
const ROWS = Number(process.env['PLINTH_TEST_ROUND_TRIP_ROWS'] ?? 1_600);
const MILLISECONDS_MAX = 120_000 + ROWS;
const ROWS_PER_STATEMENT = 5_000;

const encodings: { name: string; letters: string[]; withMark?: boolean; mustBeNamed?: boolean }[] = [
  { name: 'utf-8', letters: unicode, withMark: true },
  { name: 'utf-8', letters: unicode },
  { name: 'utf-16le', letters: unicode, withMark: true },
  { name: 'utf-16be', letters: unicode, withMark: true },
  { name: 'windows-1252', letters: [...'éàüß€œ’“”¿'] },
  { name: 'iso-8859-2', letters: [...'ąćęłńóśźżőű'], mustBeNamed: true },
  { name: 'koi8-r', letters: [...'Приветёж'], mustBeNamed: true },
  { name: 'shift_jis', letters: ['日本', 'カナ', '表', 'ソ'], mustBeNamed: true },
];

describe(`${ROWS} random rows`, () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  const store = async ({ tenantId }: Caller, rows: unknown[][]): Promise<void> => {
    for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
      await exchange.shop.query(
        `INSERT INTO article (tenant_id, id, code, title, stock, price, is_new, since, seen_at, kind)
         SELECT $1, gen_random_uuid(), r->>0, r->>1, (r->>2)::bigint, (r->>3)::numeric, (r->>4)::boolean,
           (r->>5)::date, (r->>6)::timestamptz, r->>7
         FROM jsonb_array_elements($2::jsonb) AS r`,
        [tenantId, JSON.stringify(rows.slice(at, at + ROWS_PER_STATEMENT))],
      );
    }
  };

  /** Rows that one tenant has and the other has not, digit by digit. */
  const differences = async (one: Caller, other: Caller, price = 'price::text'): Promise<unknown[]> => {
    const cells = `code, title, stock::text, ${price}, is_new, since, seen_at, kind`;
    const only = (has: 1 | 2, lacks: 1 | 2) =>
      `SELECT ${cells} FROM article WHERE tenant_id = $${has} EXCEPT ALL SELECT ${cells} FROM article WHERE tenant_id = $${lacks}`;
    const { rows } = await exchange.shop.query(`(${only(1, 2)}) UNION ALL (${only(2, 1)}) LIMIT 5`, [
      one.tenantId,
      other.tenantId,
    ]);
    return rows;
  };

  const importAs = async (caller: Caller, file: Uint8Array, encoding?: string) => {
    const jobId = await mappedImport(exchange, caller, file, encoding);
    expect((await exchange.as(caller).post(`/imports/${jobId}/execute`)).status).toBe(202);
    return reportOf(exchange, caller, jobId, MILLISECONDS_MAX);
  };

  const bytesOf = async (caller: Caller, jobId: string): Promise<Uint8Array> => {
    const { url, headers } = exchange.as(caller).address('GET', `/exports/jobs/${jobId}/download`);
    return new Uint8Array(await (await fetch(url, { headers })).arrayBuffer());
  };

  it.each(
    encodings.map((encoding, index) => ({
      ...encoding,
      index,
      mark: encoding.withMark ? 'with' : 'without',
    })),
  )(
    'are unchanged after export and import of a text file: $name $mark a byte order mark',
    async ({ name, letters, withMark, mustBeNamed, index }) => {
      const [one, other] = [aCaller(), aCaller()];
      const count = Math.ceil(ROWS / encodings.length);
      await store(one, randomArticles(count, letters, index));

      const { file } = await exportFile(exchange, one, {}, MILLISECONDS_MAX);
      const encoded = iconv.encode(file.text, name, { addBOM: withMark ?? false });
      const report = await importAs(other, encoded, mustBeNamed ? name : undefined);

      expect(report.rowErrors).toEqual([]);
      expect(report.insertedRows).toBe(count);
      expect(await differences(one, other)).toEqual([]);
    },
    MILLISECONDS_MAX * 2,
  );

  it(
    'are unchanged after export and import of a workbook',
    async () => {
      const [one, other] = [aCaller(), aCaller()];
      const count = Math.ceil(ROWS / encodings.length);
      await store(one, randomArticles(count, unicode, 99));

      const { job } = await exportFile(exchange, one, { format: 'xlsx' }, MILLISECONDS_MAX);
      const report = await importAs(other, await bytesOf(one, job.id));

      expect(report.rowErrors).toEqual([]);
      expect(report.insertedRows).toBe(count);
      // In a workbook 1.50 is 1.5.
      expect(await differences(one, other, 'price')).toEqual([]);
    },
    MILLISECONDS_MAX * 2,
  );

  it.each(['csv', 'xlsx'])(
    'contain nothing that LibreOffice runs, where it is installed, as %s',
    async (format) => {
      const caller = aCaller();
      await store(caller, randomArticles(500, unicode, 7));
      const { job } = await exportFile(exchange, caller, { format });
      const file = await bytesOf(caller, job.id);

      const sheet = await openedByLibreOffice(file, format);
      if (sheet === undefined) return;
      expect(sheet).toContain('K499');
      expect(formulasOf(sheet)).toEqual([]);
      const evil = await openedByLibreOffice(Buffer.from('code,title\nA,=1+1\n'), 'csv');
      expect(formulasOf(evil!)).toEqual(['of:=1+1']);
    },
  );
});

/** What LibreOffice would work out; it writes each boolean as the formula of its own name. */
const formulasOf = (sheet: string): string[] =>
  [...sheet.matchAll(/table:formula="([^"]*)"/g)]
    .map(([, formula]) => formula!)
    .filter((formula) => !/^of:=(TRUE|FALSE)\(\)$/.test(formula));

/** A file as LibreOffice sees it when it opens it, as one text of XML; undefined where it is not installed. */
async function openedByLibreOffice(file: Uint8Array, extension: string): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-office-'));
  const name = join(folder, `rows.${extension}`);
  writeFileSync(name, file);
  try {
    await promisify(execFile)('soffice', [
      `-env:UserInstallation=file://${folder}/profile`,
      '--headless',
      // Commas, quotes, UTF-8, and what looks like a number or a formula is one.
      ...(extension === 'csv' ? ['--infilter=CSV:44,34,76,1,,0,false,true'] : []),
      '--convert-to',
      'fods',
      '--outdir',
      folder,
      name,
    ]);
    return readFileSync(join(folder, 'rows.fods'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
