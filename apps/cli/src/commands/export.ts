import { existsSync } from 'node:fs';
import { exportJob } from '@plinth/sdk/jobs';
import { saveTo } from '@plinth/sdk/node-files';
import type { Command } from 'commander';
import { CommandError, ExitCode } from '../exit-codes';
import { collect, pairOf } from '../options';
import { openSession } from '../session';
import { counted } from '../terminal';
import { waitForJob } from '../wait-for-job';

interface ExportCommandOptions {
  format: string;
  output?: string;
  fields?: string;
  filter?: string[];
  search?: string;
  sort?: string;
  id?: boolean;
}

/** `export DEFINITION`. */
export function addExport(program: Command): void {
  program
    .command('export')
    .description('export rows as CSV, Excel or JSON lines')
    .argument('<definition>', 'what to export, such as Contacts.Companies')
    .option('-f, --format <format>', 'csv, xlsx or json', 'csv')
    .option('-o, --output <file>', 'where to write it; by the name that the platform gives it otherwise')
    .option('--fields <names>', 'columns in their order, comma-separated; all by default')
    .option('--filter <field.operator=value>', 'rows to export; all of them must match', collect)
    .option('--search <text>', 'text that rows must hold')
    .option('--sort <fields>', 'fields, `-` before one for descending')
    .option('--id', 'adds the column by which an import finds the row')
    .action(async (definitionName: string, options: ExportCommandOptions, command: Command) => {
      const { dataExchange, terminal } = openSession(command);
      const { body: queued } = await dataExchange.createExportJob({
        body: {
          definitionName,
          format: options.format,
          selectedFields: options.fields?.split(',') ?? null,
          includeIdForImport: options.id ?? false,
          filter: Object.fromEntries((options.filter ?? []).map((text) => pairOf('--filter', text))),
          sort: options.sort ?? null,
          search: options.search ?? null,
        },
      });
      const job = await waitForJob('export', exportJob(dataExchange, queued.id), terminal);
      if (job.status !== 'Completed')
        throw new CommandError(job.errorMessage ?? 'The export failed.', ExitCode.Refused);
      const { body: download } = await dataExchange.downloadExport({ params: { jobId: job.id } });
      const file = options.output ?? download.fileName ?? `${definitionName}.${options.format}`;
      // Nobody at this terminal chose that name.
      if (options.output === undefined && existsSync(file))
        throw new CommandError(`There is a file ${file} already: choose another one with --output.`);
      await saveTo(download, file);
      terminal.result({ ...job, file }, `${counted(job.rowCount ?? 0, 'row')} in ${file}`);
    });
}
