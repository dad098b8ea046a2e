import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../development/launcher/paths.mjs';

const USAGE = `npm run faults -- import [--imports 200] [--rows 10000] [--seed 1]   kill -9 in the middle of imports
npm run faults -- export [--exports 100] [--rows 10000] [--seed 1]   kill -9 in the middle of exports
npm run faults -- undo [--undos 100] [--rows 10000] [--seed 1]       kill -9 in the middle of undos
npm run faults -- notifications [--entries 2000]                         kill -9 of the timeline while entries are written
npm run faults -- backlog [--events 100000]                              a service comes back to very many events
npm run faults -- outages [--only all] [--seconds 10] [--rate 50]        servers that do not respond, or only read, for a while, under load
npm run faults -- rolling [--only all] [--rounds 1] [--rate 50]          replace processes under load
npm run faults -- replicas [--seconds 10]                                two of each under the flood of one tenant
npm run faults -- memory [--attackers 64]                                send gateways, services and consumers what costs the most memory
npm run faults -- neighbours [--only all] [--seconds 10]                 one tenant takes all it can of each scarce thing`;

/** Each campaign is a test that the suite runs on a small scale; its options are passed in the environment. */
const campaigns: Record<string, string> = {
  import: 'tools/verification/faults/import.integration.spec.ts',
  export: 'tools/verification/faults/export.integration.spec.ts',
  undo: 'tools/verification/faults/undo.integration.spec.ts',
  notifications: 'tools/verification/faults/notifications.integration.spec.ts',
  memory: '(apps/gateway/test|libs/http/test|tools/verification/faults)/memory(.integration)?.spec.ts',
  neighbours: 'tools/verification/faults/neighbours.integration.spec.ts',
  backlog: 'tools/verification/faults/backlog.integration.spec.ts',
  outages: 'tools/verification/faults/outages.integration.spec.ts',
  replicas: 'tools/verification/faults/replicas.integration.spec.ts',
  rolling: 'tools/verification/faults/rolling.integration.spec.ts',
};

/** `npm run faults`: injects faults into a platform of its own, and checks that nothing is lost. */
function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      imports: { type: 'string', default: '200' },
      exports: { type: 'string', default: '100' },
      undos: { type: 'string', default: '100' },
      events: { type: 'string', default: '100000' },
      entries: { type: 'string', default: '2000' },
      rows: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: 'all' },
      rounds: { type: 'string', default: '1' },
      attackers: { type: 'string', default: '64' },
      seconds: { type: 'string', default: '10' },
      rate: { type: 'string', default: '50' },
    },
  });
  const spec = campaigns[positionals[0] ?? ''];
  if (!spec) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  const options = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`FAULTS_${name.toUpperCase()}`, value]),
  );
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const { status } = spawnSync(process.execPath, [jest, spec], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...options },
  });
  process.exitCode = status ?? 1;
}

main();
