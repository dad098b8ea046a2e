import tab from '@bomb.sh/tab/commander';
import { ApiProblem } from '@plinth/sdk/api-problem';
import { Command, CommanderError } from 'commander';
import { addApiKeys } from './commands/api-keys';
import { addDeadLetters } from './commands/dead-letters';
import { addExport } from './commands/export';
import { addImport } from './commands/import';
import { addLogin } from './commands/login';
import { addSettings } from './commands/settings';
import { addTemplates } from './commands/templates';
import { addTimeline } from './commands/timeline';
import { addTranslations } from './commands/translations';
import { addWorkflow } from './commands/workflow';
import { CommandError, ExitCode } from './exit-codes';
import { addGlobalOptions } from './session';
import { printable, table } from './terminal';
import { UnwatchedJob } from './wait-for-job';

declare const CLI_VERSION: string;

const program = addGlobalOptions(
  new Command('plinth')
    .description('The platform on the command line. Results go to the standard output.')
    .version(CLI_VERSION)
    .showHelpAfterError('(plinth --help lists the commands)')
    .exitOverride(),
);
for (const add of [
  addLogin,
  addImport,
  addExport,
  addTemplates,
  addTranslations,
  addSettings,
  addWorkflow,
  addTimeline,
  addApiKeys,
  addDeadLetters,
])
  add(program);
// `plinth complete zsh` prints what a shell reads.
tab(program);

/** What went wrong, for the person at the terminal, and how the program ends. */
function report(error: unknown): ExitCode {
  // commander has printed it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.Done : ExitCode.Usage;
  if (error instanceof CommandError) {
    console.error(printable(error.message));
    return error.exitCode;
  }
  if (error instanceof UnwatchedJob) {
    console.error(printable(error.message));
    return report(error.cause);
  }
  if (error instanceof ApiProblem) {
    console.error(printable(`${error.problem.title}: ${error.problem.detail}`));
    const rows = Object.entries(error.errors).flatMap(([path, codes]) => codes.map((code) => [path, code]));
    if (rows.length > 0) console.error(table(['Field', 'Rule'], rows));
    if (error.traceId !== undefined) console.error(printable(`Trace ${error.traceId}`));
    if (error.status === 401 || error.status === 403) return ExitCode.NotAllowed;
    return error.status >= 500 || error.status === 429 ? ExitCode.Unavailable : ExitCode.Refused;
  }
  // `fetch` says so when there is no way to the platform; the reason is its cause.
  if (error instanceof TypeError && error.cause instanceof Error) {
    console.error(`The platform cannot be reached: ${error.cause.message || error.message}`);
    return ExitCode.Unavailable;
  }
  console.error(error);
  return ExitCode.Unexpected;
}

for (const command of [program, ...program.commands, ...program.commands.flatMap((one) => one.commands)])
  command.exitOverride();
program.parseAsync().catch((error: unknown) => {
  process.exitCode = report(error);
});
