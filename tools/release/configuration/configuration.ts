import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as prettier from 'prettier';
import { root } from '../../development/launcher/paths.mjs';
import { launcherVariables } from './launcher-variables.ts';
import { readProcesses, type Variable } from './read-processes.ts';

const file = join(root, 'docs', 'configuration.md');

const introduction = `# Configuration

<!-- Made by \`npm run docs:configuration\` from the schemas that read it. -->

Every process reads its configuration from its environment when it starts, reports all errors at once, and ends with
exit code 78 when there is one. For every variable \`X\` the variable \`X_FILE\` may name a file that holds the value
instead: that is how secrets are mounted. An empty variable is an absent one.

With \`NODE_ENV=production\` a process refuses what is only safe on a developer's machine: guessable keys and database
passwords, the development issuer, and \`*\` as an origin of CORS. A database role that row-level security does not bind
(a superuser, one with \`BYPASSRLS\`, an owner of tables) is refused everywhere.

A worker reads the same variables as the service it belongs to. Files in S3 (\`BLOB_URL=s3://…\`) need credentials where
every S3 client looks for them: \`AWS_ACCESS_KEY_ID\` and \`AWS_SECRET_ACCESS_KEY\`, the file that
\`AWS_SHARED_CREDENTIALS_FILE\` names, or the identity of the machine.
`;

/**
 * `npm run docs:configuration`; with `--check` it only checks whether the page is stale, with `--json` it prints the
 * variables by process.
 */
async function main() {
  const processes = await readProcesses();
  if (process.argv.includes('--json')) {
    const byProcess = Object.fromEntries(processes.map(({ name, variables }) => [name, variables]));
    return console.log(JSON.stringify(byProcess));
  }
  const page = [
    introduction,
    ...processes.map(({ name, variables }) => section(name, variables)),
    section('The launcher, the tests and migrations', launcherVariables),
  ].join('\n');
  const options = await prettier.resolveConfig(file);
  const wanted = await prettier.format(page, { ...options, filepath: file });
  if (!process.argv.includes('--check')) return writeFileSync(file, wanted);
  if (readFileSync(file, 'utf8') !== wanted) {
    throw new Error('docs/configuration.md is stale: run `npm run docs:configuration`.');
  }
}

const section = (title: string, variables: readonly Variable[]) => `## ${title}

| Variable | Default | Meaning |
| --- | --- | --- |
${variables.map(row).join('\n')}
`;

const row = ({ name, isRequired, defaultValue, meaning }: Variable) =>
  `| \`${name}\` | ${isRequired ? '**required**' : defaultValue === undefined ? '' : code(defaultValue)} | ${cell(meaning)} |`;

/** Long defaults are data: the page says where to look instead of showing all of it. */
const code = (text: string) => (text.length > 80 ? 'see the schema' : `\`${cell(text)}\``);

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
