import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { importJob } from '@plinth/sdk/jobs';
import { fileFrom, saveTo } from '@plinth/sdk/node-files';
import { ApiProblem } from '@plinth/sdk/api-problem';
import type { Command } from 'commander';
import { CommandError, ExitCode } from '../exit-codes';
import { collect, pairOf } from '../options';
import { openSession, type Session } from '../session';
import { table, type Terminal } from '../terminal';
import { waitForJob } from '../wait-for-job';

interface ImportCommandOptions {
  definition: string;
  map?: string[];
  saveMapping?: boolean;
  dryRun?: boolean;
  mode?: 'insert' | 'update' | 'upsert';
  onError?: 'continue' | 'abort';
  sheet?: string;
  correction?: string;
}

const ERRORS_SHOWN = 20;

/** `import FILE`: upload, mapping, execution, report. */
export function addImport(program: Command): void {
  program
    .command('import')
    .description('import a CSV, TSV or Excel file')
    .argument('<file>')
    .requiredOption('-d, --definition <name>', 'what the rows are, such as Contacts.Companies')
    .option('--map <column=property>', 'where a column goes; `column=` leaves it out', collect)
    .option('--save-mapping', 'suggest this mapping for the next file with the same header')
    .option('--dry-run', 'check every row and import none')
    .option('--mode <mode>', 'insert, update or upsert')
    .option('--on-error <mode>', 'continue, or abort: all rows or none')
    .option('--sheet <name>', 'sheet of a workbook')
    .option('--correction <file>', 'where rows that failed are written; beside the file by default')
    .action(async (file: string, options: ImportCommandOptions, command: Command) => {
      if (!existsSync(file)) throw new CommandError(`There is no file ${file}.`);
      const session = openSession(command);
      const { body: job } = await session.dataExchange.uploadImport({
        ...(await fileFrom(file)),
        fields: { definitionName: options.definition },
      });
      let mayRun = false;
      try {
        const mapped = await mapColumns(session, job.id, options);
        if (options.dryRun) await check(session, job.id, options);
        else {
          // Whatever becomes of the response.
          mayRun = true;
          await execute(session, job.id, options, mapped).catch((error: unknown) => {
            mayRun = !isRefusal(error);
            if (mayRun) session.terminal.note(`Whether the import ${job.id} runs is not known.`);
            throw error;
          });
        }
      } finally {
        // It was only checked, the person changed their mind, or something did not fit: nothing of it stays.
        if (!mayRun) await removeUpload(session, job.id);
      }
      if (!options.dryRun) await awaitEnd(session, job.id, file, options);
    });
}

/** All of a tenant see its jobs: one that a colleague has executed meanwhile goes on. */
async function removeUpload({ dataExchange, terminal }: Session, jobId: string): Promise<void> {
  const params = { jobId };
  try {
    const { status } = (await dataExchange.getImport({ params })).body;
    if (['Created', 'Previewed', 'Mapped'].includes(status)) await dataExchange.cancelImport({ params });
    else terminal.note(`Somebody else has executed the import ${jobId}: it is ${status}.`);
  } catch {
    terminal.note(`The upload could not be removed: the import ${jobId}.`);
  }
}

/** Whether the platform said that it did not start an import, which nobody else has started either. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApiProblem &&
  (error.slug === 'stale-version' || (error.status < 500 && error.status !== 409));

/** Returns the tag of what was confirmed. */
async function mapColumns(
  session: Session,
  jobId: string,
  options: ImportCommandOptions,
): Promise<string | undefined> {
  const { dataExchange, terminal } = session;
  const query = options.sheet === undefined ? {} : { sheet: options.sheet };
  const { body: preview, etag: seen } = await dataExchange.previewImport({ params: { jobId }, query });
  const chosen = new Map((options.map ?? []).map((text) => pairOf('--map', text, text.lastIndexOf('='))));
  const unknown = [...chosen.keys()].find((column) => !preview.headers.includes(column));
  if (unknown !== undefined)
    throw new CommandError(`The file has no column "${unknown}"; it has ${preview.headers.join(', ')}.`);
  const mappings = preview.suggestions.map((suggestion) =>
    chosen.has(suggestion.sourceColumn)
      ? {
          sourceColumn: suggestion.sourceColumn,
          targetProperty: chosen.get(suggestion.sourceColumn) || null,
          confidence: 'Manual' as const,
        }
      : suggestion,
  );
  for (const { detail } of preview.findings) terminal.note(`! ${detail}`);
  const sampleOf = (column: string) => preview.previewRows[0]?.[preview.headers.indexOf(column)];
  terminal.note(
    table(
      ['Column', 'First row', 'Property', 'Found by'],
      mappings.map(({ sourceColumn, targetProperty, confidence }) => [
        sourceColumn,
        sampleOf(sourceColumn),
        targetProperty ?? '(left out)',
        targetProperty === null ? '' : confidence,
      ]),
    ),
  );
  await terminal.confirm('Import with this mapping?');
  const { etag } = await dataExchange.confirmImportMappings({
    params: { jobId },
    body: { mappings, saveForReuse: options.saveMapping ?? false },
    ifMatch: seen,
  });
  return etag;
}

/** A dry-run checks what would be executed, so both have this body. */
const optionsOf = ({ mode, onError, sheet }: ImportCommandOptions) => ({
  ...(mode === undefined ? {} : { mode }),
  ...(onError === undefined ? {} : { onError }),
  ...(sheet === undefined ? {} : { sheet }),
});

async function check(
  { dataExchange, terminal }: Session,
  jobId: string,
  options: ImportCommandOptions,
): Promise<void> {
  const { body: report } = await dataExchange.dryRunImport({ params: { jobId }, body: optionsOf(options) });
  showReport(terminal, report, undefined, 'would be imported');
}

async function execute(
  { dataExchange }: Session,
  jobId: string,
  options: ImportCommandOptions,
  ifMatch: string | undefined,
): Promise<void> {
  await dataExchange.executeImport({ params: { jobId }, body: optionsOf(options), ifMatch });
}

async function awaitEnd(
  { dataExchange, terminal }: Session,
  jobId: string,
  file: string,
  { correction }: ImportCommandOptions,
): Promise<void> {
  const params = { jobId };
  await waitForJob('import', importJob(dataExchange, jobId), terminal);
  const { body: report } = await dataExchange.getImportReport({ params });
  const { body: failed } = await dataExchange.downloadCorrectionFile({ params });
  const written = failed === undefined ? undefined : (correction ?? besideOf(file, failed.fileName));
  if (failed !== undefined) await saveTo(failed, written!);
  showReport(terminal, report, written, 'imported');
}

/** `companies.csv` gets its correction file as `companies.errors.csv`, or `companies.errors-2.csv` beside one that somebody may have corrected. */
function besideOf(file: string, name = file): string {
  const stem = `${file.slice(0, file.length - extname(file).length)}.errors`;
  let path = `${stem}${extname(name)}`;
  for (let number = 2; existsSync(path); number++) path = `${stem}-${number}${extname(name)}`;
  return path;
}

type Report = Awaited<ReturnType<Session['dataExchange']['getImportReport']>>['body'];

function showReport(
  terminal: Terminal,
  report: Report,
  correctionFile: string | undefined,
  verb: string,
): void {
  const { rowErrors, totalRows, succeededRows, insertedRows, updatedRows, failedRows, skippedRows } = report;
  const shown = rowErrors.slice(0, ERRORS_SHOWN);
  const errors = shown.flatMap(({ rowNumber, details, message }) =>
    details.length === 0
      ? [[rowNumber, '', '', message]]
      : details.map((detail) => [rowNumber, detail.column, detail.value, detail.message]),
  );
  const lines = [
    ...(errors.length === 0 ? [] : [table(['Row', 'Column', 'Value', 'What is wrong'], errors), '']),
    ...(failedRows > shown.length ? [`… and ${failedRows - shown.length} more rows.`] : []),
    ...(report.errorMessage === null ? [] : [report.errorMessage]),
    ...(report.finalStatus === 'Cancelled' ? ['The import was cancelled.'] : []),
    `${succeededRows} of ${totalRows} rows ${verb} (${insertedRows} inserted, ${updatedRows} updated); ` +
      `${failedRows} failed, ${skippedRows} skipped.`,
    ...(correctionFile === undefined ? [] : [`Rows to correct and import again: ${correctionFile}`]),
  ];
  terminal.result({ ...report, correctionFile: correctionFile ?? null }, lines.join('\n'));
  if (report.finalStatus !== 'Completed') process.exitCode = ExitCode.Partly;
}
