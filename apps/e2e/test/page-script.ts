import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** Some commands of a page, and what the page shows of their output. */
export interface Step {
  commands: string;
  /** Lines of the output, each with `…` for what is omitted. */
  shown: string[];
  /** The same where the page shows a JSON document of its own. */
  document: string | undefined;
}

export interface StepResult {
  exitCode: number;
  /** The status of every response that curl received. */
  statuses: string[];
  output: string;
}

/** The commands of a page that call the platform, in the order in which a reader types them. */
export function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  for (const [, language, text] of markdown.matchAll(/^```(sh|json)\n([^]*?)^```$/gm)) {
    // Commands that start or measure a platform are not run on this one.
    if (/^np[mx] /.test(text!)) continue;
    if (language === 'sh') steps.push(...stepsOfBlock(text!));
    else if (steps.length > 0) steps.at(-1)!.document = text!;
  }
  return steps;
}

/** A comment after commands, on their line or below them, is their output. */
function stepsOfBlock(text: string): Step[] {
  const steps: Step[] = [];
  let isNew = true;
  for (const line of text.trimEnd().split('\n')) {
    const below = /^# ?(.*)$/.exec(line)?.[1];
    const [, command = line, beside] = /^(.*\S)\s{2,}# (.*)$/.exec(line) ?? [];
    if (below !== undefined) {
      steps.at(-1)?.shown.push(below);
      isNew = true;
      continue;
    }
    if (isNew) steps.push({ commands: '', shown: [], document: undefined });
    const step = steps.at(-1)!;
    step.commands += `${command}\n`;
    if (beside) step.shown.push(beside);
    isNew = beside !== undefined;
  }
  return steps;
}

/** Runs the steps one after the other in one shell and in an empty folder. @param programs folders of programs that they call */
export async function runSteps(
  steps: readonly Step[],
  programs: readonly string[] = [],
): Promise<StepResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-page-'));
  try {
    await writeFile(join(folder, 'page.sh'), scriptOf(steps));
    const path = [...programs, process.env['PATH']].join(delimiter);
    await promisify(execFile)('bash', ['page.sh'], { cwd: folder, env: { ...process.env, PATH: path } });
    const read = (index: number, part: string) => readFile(join(folder, `${index}.${part}`), 'utf8');
    return await Promise.all(
      steps.map(async (_, index) => ({
        exitCode: Number(await read(index, 'exit')),
        statuses: (await read(index, 'statuses')).trim().split('\n'),
        output: await read(index, 'out'),
      })),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

const scriptOf = (steps: readonly Step[]): string =>
  [
    'set -o pipefail',
    `curl() { command curl -sS --write-out '%{stderr}%{http_code}\\n' "$@" 2>> "$STATUSES"; }`,
    ...steps.map((step, index) => {
      const { commands } = step;
      const run = `STATUSES=$PWD/${index}.statuses; : > "$STATUSES"\n{\n${commands}} > ${index}.out 2>&1\necho $? > ${index}.exit`;
      if (!isRead(step)) return run;
      return `SECONDS=0\nuntil ${run}\n[[ $(<${index}.out) == ${patternOf(step)} || $SECONDS -ge ${READ_SECONDS_MAX} ]]\ndo sleep 0.1; done`;
    }),
  ].join('\n');

/** A reader looks again where something is there a moment later, as what a service learns of another one. */
const READ_SECONDS_MAX = 120;

const isRead = ({ commands, shown }: Step): boolean =>
  shown.length > 0 &&
  !/^\d{3}\b/.test(shown[0]!) &&
  commands
    .trim()
    .split('\n')
    .every((line) => /^curl /.test(line) && !/ (-[XdFio]|-OJ|\|) /.test(line));

/** What is shown in this order, for the shell. */
const patternOf = ({ shown }: Step): string =>
  `*${fragmentsOf(shown.join('\n'))
    .map((fragment) => `'${fragment.replaceAll("'", `'\\''`)}'`)
    .join('*')}*`;

/** Of what a page shows: white space and `…` stand for anything. */
export const fragmentsOf = (shown: string): string[] =>
  shown.split(/[\s…]+/).filter((fragment) => fragment !== '');
