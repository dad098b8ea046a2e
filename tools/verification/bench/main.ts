import { parseArgs } from 'node:util';
import type { BenchLine } from './bench-line.ts';
import { benchGateway } from './gateway.ts';
import { benchFairness } from './fairness.ts';
import { benchImportFairness } from './import-fairness.ts';
import { benchWorkers } from './import-workers.ts';
import { benchVariants } from './import-variants.ts';
import { benchCorrections, benchImport } from './import.ts';
import { benchLibraries } from './libraries.ts';
import { benchLocalization } from './localization.ts';
import { startBenchPlatform, type BenchTarget } from './platform.ts';
import { benchSettings } from './settings.ts';
import { benchTemplate } from './template.ts';
import { benchTimeline } from './timeline.ts';
import { benchWorkflow } from './workflow.ts';
import { benchWrites } from './writes.ts';

/**
 * `npm run bench -- [area…] [--rows N]`: measures each job beside its reference in the same run.
 * `npm run bench -- import --corrections | --variants | --fair | --workers 1,2,4`: files with wrong rows; errors of every
 * kind, updates, ids, relations and wide files; a small file beside a large one; one file by several workers.
 * `npm run bench -- fairness`: what one tenant waits for while another takes all it can of each scarce thing.
 * `npm run bench -- writes [--clients 1,16,64] [--seconds N] [--only entry,setting]`: some writes, and how to load them.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rows: { type: 'string', default: '200000' },
    corrections: { type: 'boolean', default: false },
    variants: { type: 'boolean', default: false },
    fair: { type: 'boolean', default: false },
    workers: { type: 'string' },
    clients: { type: 'string', default: '1,16' },
    seconds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
  },
});

const benches: Record<string, (target: BenchTarget) => Promise<BenchLine[]>> = {
  gateway: benchGateway,
  settings: benchSettings,
  localization: benchLocalization,
  template: benchTemplate,
  timeline: benchTimeline,
  workflow: benchWorkflow,
  import: importBench,
  fairness: benchFairness,
  libraries: benchLibraries,
  writes: (target) =>
    benchWrites(target, {
      only: values.only.split(',').filter(Boolean),
      clients: values.clients.split(',').map(Number),
      seconds: Number(values.seconds),
    }),
};

function importBench(target: BenchTarget): Promise<BenchLine[]> {
  const rows = Number(values.rows);
  if (values.corrections) return benchCorrections(target, rows);
  if (values.variants) return benchVariants(target, rows, values.only ?? '');
  if (values.fair) return benchImportFairness(target, rows);
  if (values.workers) return benchWorkers(target, rows, values.workers.split(',').map(Number));
  return benchImport(target, rows);
}

const unknown = positionals.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}.`);
  process.exit(2);
}

const platform = await startBenchPlatform();
try {
  for (const name of positionals.length > 0 ? positionals : Object.keys(benches)) {
    for (const { job, measured, reference, ratio, goal, details = [] } of await benches[name]!(platform)) {
      const compared = [
        reference ?? [],
        ratio === undefined ? [] : `ratio ${ratio.toFixed(2)}`,
        goal === undefined ? [] : `goal ${goal}`,
      ].flat();
      const beside = compared.length === 0 ? '' : ` (${compared.join(', ')})`;
      console.log(`${name.padEnd(13)} ${job}: ${measured}${beside}`);
      for (const detail of details) console.log(`${' '.repeat(15)}${detail}`);
    }
  }
} finally {
  await platform.stop();
}
