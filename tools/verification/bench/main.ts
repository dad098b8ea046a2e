import { parseArgs } from 'node:util';
import type { BenchLine } from './bench-line.ts';
import { benchDetection } from './detection.ts';
import { benchGateway } from './gateway.ts';
import { benchFairness } from './fairness.ts';
import { benchCrash } from './import-crash.ts';
import { benchImportFairness } from './import-fairness.ts';
import { benchWorkers } from './import-workers.ts';
import { benchVariants } from './import-variants.ts';
import { benchCorrections, benchImport } from './import.ts';
import { benchLibraries } from './libraries.ts';
import { benchLocalization } from './localization.ts';
import { benchMemory } from './memory.ts';
import { startBenchPlatform, type BenchTarget } from './platform.ts';
import { benchSettings } from './settings.ts';
import { benchTemplate } from './template.ts';
import { benchTimeline } from './timeline.ts';
import { benchWorkflow } from './workflow.ts';
import { benchWrites } from './writes.ts';

/**
 * `npm run bench -- [area…] [--rows N]`: measures each job beside its reference in the same run.
 * `npm run bench -- import --corrections | --variants | --fair | --crash | --workers 1,2,4`: files with wrong rows; errors
 * of every kind, updates, ids, relations and wide files; a small file beside a large one; workers that are killed
 * (`--crashes N`); one file by several workers. With `--only`, what contains one of these texts.
 * `npm run bench -- fairness [--only upload]`: what one tenant waits for while another takes all it can of each scarce thing.
 * `npm run bench -- memory`: what is left in the memory of processes of tenants that called once.
 * `npm run bench -- detection`: how well polluted files are read by detection alone.
 * `npm run bench -- writes [--clients 1,16,64] [--seconds N] [--only rest,entry,setting] [--tenants N]`: some writes, and
 * how to load them; `rest` is what the platform uses while nobody asks it for anything.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rows: { type: 'string', default: '200000' },
    corrections: { type: 'boolean', default: false },
    variants: { type: 'boolean', default: false },
    fair: { type: 'boolean', default: false },
    crash: { type: 'boolean', default: false },
    crashes: { type: 'string', default: '5' },
    workers: { type: 'string' },
    clients: { type: 'string', default: '1,16' },
    seconds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    tenants: { type: 'string', default: '1' },
  },
});

const benches: Record<string, (target: BenchTarget) => Promise<BenchLine[] | void>> = {
  gateway: benchGateway,
  settings: benchSettings,
  localization: benchLocalization,
  template: benchTemplate,
  timeline: benchTimeline,
  workflow: benchWorkflow,
  import: importBench,
  fairness: (target) =>
    benchFairness(target, {
      only: values.only.split(',').filter(Boolean),
      report: (line) => print('fairness', line),
    }),
  libraries: benchLibraries,
  detection: benchDetection,
  memory: benchMemory,
  writes: (target) =>
    benchWrites(target, {
      only: values.only.split(',').filter(Boolean),
      clients: values.clients.split(',').map(Number),
      seconds: Number(values.seconds),
      tenants: Number(values.tenants),
      report: (line) => print('writes', line),
    }),
};

function importBench(target: BenchTarget): Promise<BenchLine[] | void> {
  const rows = Number(values.rows);
  const only = values.only.split(',').filter(Boolean);
  if (values.corrections) return benchCorrections(target, rows);
  if (values.variants)
    return benchVariants(target, {
      rowCount: rows,
      only,
      report: (line) => print('import', line),
    });
  if (values.fair) return benchImportFairness(target, rows);
  if (values.crash) return benchCrash(target, { rowCount: rows, crashes: Number(values.crashes) });
  if (values.workers) return benchWorkers(target, rows, values.workers.split(',').map(Number));
  return benchImport(target, { rowCount: rows, only });
}

const unknown = positionals.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}.`);
  process.exit(2);
}

const platform = await startBenchPlatform();
try {
  for (const name of positionals.length > 0 ? positionals : Object.keys(benches)) {
    for (const line of (await benches[name]!(platform)) ?? []) print(name, line);
  }
} finally {
  await platform.stop();
}

function print(name: string, { job, measured, reference, ratio, goal, details = [] }: BenchLine): void {
  const compared = [
    reference ?? [],
    ratio === undefined ? [] : `ratio ${ratio.toFixed(2)}`,
    goal === undefined ? [] : `goal ${goal}`,
  ].flat();
  const beside = compared.length === 0 ? '' : ` (${compared.join(', ')})`;
  console.log(`${name.padEnd(13)} ${job}: ${measured}${beside}`);
  for (const detail of details) console.log(`${' '.repeat(15)}${detail}`);
}
