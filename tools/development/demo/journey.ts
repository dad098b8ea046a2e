import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import Papa from 'papaparse';
import { breakRows, type BrokenRow } from './broken-rows.ts';
import type { Row } from './cldr-rows.ts';
import { UnexpectedResult, type Client } from './client.ts';
import { count, perSecond, progressBar, print } from './progress.ts';

const definitionName = 'Localization.Overrides';
const header = ['resource', 'culture', 'key', 'value'];
const expectedTargets = ['resourceName', 'cultureName', 'key', 'value'];
/** Other overrides of the tenant are left out. */
const filter = { 'resourceName.in': 'Territories,Languages,Scripts' };
const POLL_MILLISECONDS = 500;

interface Report {
  finalStatus: string;
  totalRows: number;
  succeededRows: number;
  failedRows: number;
  skippedRows: number;
  insertedRows: number;
  updatedRows: number;
  rowErrors: { rowNumber: number; kind: string; errorCodes: string[]; message: string }[];
}

/** A real translation file in and out, as a client would do it; fails at the first difference. */
export async function runJourney(client: Client, rows: readonly Row[]): Promise<void> {
  const broken = breakRows(rows);
  print(
    `${count(rows.length)} names of territories, languages and scripts, ${count(broken.length)} of them broken in five ways.`,
  );

  const before = await exportRows(client, 'What is there before:');
  const content = writeCsv([header, ...withBroken(rows, broken)]);
  const jobId = await upload(client, content, 'cldr-names.csv');
  await preview(client, jobId, rows);

  const dry = await dryRun(client, jobId);
  expectReport('The dry-run', dry, rows, broken, before);
  const afterDryRun = await exportRows(client, 'After the dry-run:');
  if (afterDryRun.length !== before.length) throw new UnexpectedResult('The dry-run stored something.');

  const report = await execute(client, jobId, rows.length);
  expectReport('The import', report, rows, broken, before);
  for (const name of ['totalRows', 'insertedRows', 'updatedRows', 'failedRows'] as const) {
    if (report[name] !== dry[name])
      throw new UnexpectedResult(
        `The dry-run announced ${name} ${dry[name]}, the import reports ${report[name]}.`,
      );
  }

  const correction = await downloadCorrection(client, jobId, broken);
  const repaired = repair(correction, rows, broken);
  const secondId = await upload(client, repaired, 'cldr-names_errors.csv');
  await preview(client, secondId, undefined);
  const second = await execute(client, secondId, broken.length);
  if (second.finalStatus !== 'Completed' || second.succeededRows !== broken.length) {
    throw new UnexpectedResult(
      `The repaired rows were not all imported: ${JSON.stringify({ ...second, rowErrors: second.rowErrors.slice(0, 3) })}`,
    );
  }

  const exported = await exportRows(client, 'Everything again:');
  compare(rows, exported);
  const made = before.length === 0 ? 'inserted' : 'updated';
  print(
    `Every cell is as in the source. ${count(report.insertedRows + second.insertedRows)} inserted, ${count(report.updatedRows + second.updatedRows)} updated (a ${before.length === 0 ? 'first' : 'further'} run: ${made}).`,
  );
}

const writeCsv = (rows: readonly (readonly string[])[]): string =>
  `${Papa.unparse(rows as string[][], { newline: '\r\n' })}\r\n`;

function withBroken(rows: readonly Row[], broken: readonly BrokenRow[]): string[][] {
  const lines: string[][] = rows.map((row) => [...row]);
  for (const { index, cells } of broken) lines[index] = cells;
  return lines;
}

async function upload(client: Client, content: string, fileName: string): Promise<string> {
  const began = performance.now();
  const { body } = await client.call('POST', '/imports', {
    form: () => {
      const form = new FormData();
      form.append('file', new Blob([content], { type: 'text/csv' }), fileName);
      form.append('definitionName', definitionName);
      return form;
    },
    expect: [201],
  });
  const megabytes = (body.fileSizeBytes / 1e6).toFixed(1);
  print(
    `Uploaded ${fileName} (${megabytes} MB) in ${((performance.now() - began) / 1000).toFixed(1)} s: job ${body.id}.`,
  );
  return body.id;
}

async function preview(client: Client, jobId: string, rows: readonly Row[] | undefined): Promise<void> {
  const { body } = await client.call('POST', `/imports/${jobId}/preview`);
  const suggested = body.suggestions.map(
    ({ targetProperty }: { targetProperty: string | null }) => targetProperty,
  );
  const expected = rows ? expectedTargets : [...expectedTargets, null];
  if (JSON.stringify(suggested) !== JSON.stringify(expected)) {
    throw new UnexpectedResult(`The columns were suggested as ${JSON.stringify(suggested)}.`);
  }
  if (rows && JSON.stringify(body.previewRows[0]) !== JSON.stringify(rows[0]))
    throw new UnexpectedResult('The preview shows other rows.');
  print('The columns are recognized:');
  for (const { sourceColumn, targetProperty, confidence } of body.suggestions)
    print(`  ${sourceColumn} → ${targetProperty ?? 'none'} (${confidence})`);
  await client.call('PUT', `/imports/${jobId}/mappings`, {
    body: { mappings: body.suggestions },
    expect: [204],
  });
}

async function dryRun(client: Client, jobId: string): Promise<Report> {
  const began = performance.now();
  const { body } = await client.call('POST', `/imports/${jobId}/dry-run`);
  print(`Dry-run: ${summary(body)}, ${perSecond(body.totalRows, performance.now() - began)}.`);
  return body;
}

async function execute(client: Client, jobId: string, expectedRows: number): Promise<Report> {
  const began = performance.now();
  // With a key a repeated request is the same request, even if the first response was lost.
  await client.call('POST', `/imports/${jobId}/execute`, {
    headers: { 'idempotency-key': randomUUID() },
    expect: [202],
  });
  const bar = progressBar('Importing');
  const final = ['Completed', 'PartiallyCompleted', 'Failed', 'Cancelled'];
  for (let shown = 0; ; shown++) {
    const { body } = await client.call('GET', `/imports/${jobId}`);
    if (final.includes(body.status)) break;
    bar.show(Math.min(shown, 99), 100);
    await pause(POLL_MILLISECONDS);
  }
  const elapsed = performance.now() - began;
  const { body: report } = await client.call('GET', `/imports/${jobId}/report`);
  bar.end(`${report.finalStatus}: ${summary(report)}, ${perSecond(expectedRows, elapsed)}.`);
  return report;
}

const summary = (report: Report): string =>
  `${count(report.insertedRows)} inserted, ${count(report.updatedRows)} updated, ${count(report.failedRows)} failed of ${count(report.totalRows)}`;

function expectReport(
  what: string,
  report: Report,
  rows: readonly Row[],
  broken: readonly BrokenRow[],
  before: readonly string[][],
): void {
  const good = rows.length - broken.length;
  const check = (name: string, actual: unknown, expected: unknown) => {
    if (actual !== expected)
      throw new UnexpectedResult(`${what} reports ${name} ${String(actual)}, not ${String(expected)}.`);
  };
  const known = new Set(before.map(([resource, culture, key]) => JSON.stringify([resource, culture, key])));
  const isBroken = new Set(broken.map(({ index }) => index));
  const updated = rows.filter(
    (row, index) => !isBroken.has(index) && known.has(JSON.stringify(row.slice(0, 3))),
  ).length;
  check('finalStatus', report.finalStatus, broken.length > 0 ? 'PartiallyCompleted' : 'Completed');
  check('totalRows', report.totalRows, rows.length);
  check('failedRows', report.failedRows, broken.length);
  check('succeededRows', report.succeededRows, good);
  check('updatedRows', report.updatedRows, updated);
  check('insertedRows', report.insertedRows, good - updated);
  check('skippedRows', report.skippedRows, 0);
  check('number of row errors', report.rowErrors.length, Math.min(1_000, broken.length));
  for (const [at, error] of report.rowErrors.entries()) {
    check(`row number of error ${at}`, error.rowNumber, broken[at]!.index + 2);
    check(`kind of row ${error.rowNumber}`, error.kind, broken[at]!.kind);
  }
}

async function downloadCorrection(
  client: Client,
  jobId: string,
  broken: readonly BrokenRow[],
): Promise<string[][]> {
  const { text } = await client.call('GET', `/imports/${jobId}/correction-file`, { expect: [200] });
  const { data } = Papa.parse<string[]>(text.replace(/^\ufeff/, ''), { skipEmptyLines: true });
  if (data.length !== broken.length + 1)
    throw new UnexpectedResult(`The correction file has ${data.length - 1} rows, not ${broken.length}.`);
  if (JSON.stringify(data[0]) !== JSON.stringify([...header, '_Errors']))
    throw new UnexpectedResult(`The correction file begins with ${JSON.stringify(data[0])}.`);
  print(`The correction file holds the ${count(broken.length)} rows that failed. The error of the first:`);
  print(`  ${data[1]?.[4] ?? ''}`);
  return data;
}

/** What a person would do in a spreadsheet: every row gets its true cells back; the column of errors may stay. */
function repair(correction: readonly string[][], rows: readonly Row[], broken: readonly BrokenRow[]): string {
  const [first, ...lines] = correction;
  return writeCsv([first!, ...lines.map((line, at) => [...rows[broken[at]!.index]!, line[4] ?? ''])]);
}

async function exportRows(client: Client, title: string): Promise<string[][]> {
  const began = performance.now();
  const { body: job } = await client.call('POST', '/exports/jobs', {
    body: { definitionName, format: 'csv', includeIdForImport: false, filter },
    headers: { 'idempotency-key': randomUUID() },
    expect: [202],
  });
  for (;;) {
    const { body } = await client.call('GET', `/exports/jobs/${job.id}`);
    if (body.status === 'Failed') throw new UnexpectedResult(`The export failed: ${body.errorMessage}`);
    if (body.status === 'Completed') break;
    await pause(POLL_MILLISECONDS);
  }
  const { text } = await client.call('GET', `/exports/jobs/${job.id}/download`);
  const { data } = Papa.parse<string[]>(text.replace(/^\ufeff/, ''), { skipEmptyLines: true });
  const rows = data.slice(1).map((row) => row.map(withoutGuard));
  print(
    `${title} ${count(rows.length)} rows exported, ${perSecond(rows.length, performance.now() - began)}.`,
  );
  return rows;
}

/** The apostrophe that keeps a spreadsheet from taking a text for a formula. */
const withoutGuard = (cell: string): string => (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell);

function compare(rows: readonly Row[], exported: readonly string[][]): void {
  const sorted = (list: readonly (readonly string[])[]) => list.map((row) => JSON.stringify(row)).sort();
  const expected = sorted(rows);
  const actual = sorted(exported);
  if (expected.length !== actual.length)
    throw new UnexpectedResult(`${actual.length} rows were exported, not ${expected.length}.`);
  const at = expected.findIndex((row, index) => row !== actual[index]);
  if (at >= 0) throw new UnexpectedResult(`A row differs: expected ${expected[at]}, exported ${actual[at]}.`);
}
