import { parseArgs } from 'node:util';
import type { BenchLine } from './bench-line.ts';
import { benchGateway } from './gateway.ts';
import { benchImport } from './import.ts';
import { benchLocalization } from './localization.ts';
import { startBenchPlatform, type BenchTarget } from './platform.ts';
import { benchSettings } from './settings.ts';
import { benchTemplate } from './template.ts';
import { benchTimeline } from './timeline.ts';
import { benchWorkflow } from './workflow.ts';

/** `npm run bench -- [area…] [--rows N]`: measures each job beside its reference in the same run. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: 'string', default: '200000' } },
});

const benches: Record<string, (target: BenchTarget) => Promise<BenchLine[]>> = {
  gateway: benchGateway,
  settings: benchSettings,
  localization: benchLocalization,
  template: benchTemplate,
  timeline: benchTimeline,
  workflow: benchWorkflow,
  import: (target) => benchImport(target, Number(values.rows)),
};

const unknown = positionals.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}.`);
  process.exit(2);
}

const platform = await startBenchPlatform();
try {
  for (const name of positionals.length > 0 ? positionals : Object.keys(benches)) {
    for (const { job, measured, reference, ratio, goal, details = [] } of await benches[name]!(platform)) {
      const compared = ratio === undefined ? '' : `, ratio ${ratio.toFixed(2)}`;
      const wanted = goal === undefined ? '' : `, goal ${goal}`;
      console.log(`${name.padEnd(13)} ${job}: ${measured} (${reference}${compared}${wanted})`);
      for (const detail of details) console.log(`${' '.repeat(15)}${detail}`);
    }
  }
} finally {
  await platform.stop();
}
