import { runCommand } from './command.mjs';
import { readOptions } from './options.mjs';
import { isAlive } from './process-identity.mjs';
import { probe } from './probes.mjs';
import { elapsed } from './progress.mjs';
import { queuesOf } from './queues.mjs';
import { isRunning, readState } from './state.mjs';

/** `npm run status`: each process, its health, and what waits in it for how long. */
await runCommand(async () => {
  const state = readState(readOptions().layout);
  if (!isRunning(state)) {
    console.log('Plinth is not running. `npm start` starts it.');
    process.exitCode = 1;
    return;
  }
  const rows = await Promise.all(state.processes.map(describe));
  console.log(`Plinth ${state.ready ? 'is running' : 'is starting'} at ${state.url}\n`);
  console.log(table(rows));
  const queues = (await Promise.all(state.processes.map(queuesOf))).flat();
  if (queues.length > 0) console.log(`\n${table(queues)}`);
  if (state.ready !== true || rows.some(({ health }) => health !== 'healthy')) process.exitCode = 1;
});

/** @param {import('./state.mjs').ProcessState} process @returns {Promise<Record<string, string>>} */
async function describe(process) {
  const alive = isAlive(process);
  const problem = alive ? await probe(process.probe) : 'is not running';
  return {
    process: process.name,
    pid: alive ? String(process.pid) : '-',
    port: String(process.port),
    restarts: String(process.exits),
    uptime: alive ? elapsed(process.launchedAt) : '-',
    health: problem ?? 'healthy',
  };
}

/** Rows under the names of their columns. @param {Record<string, string>[]} rows */
function table(rows) {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [Object.fromEntries(columns.map((name) => [name, name])), ...rows];
  const widths = columns.map((name) => Math.max(...lines.map((line) => line[name]?.length ?? 0)));
  return lines
    .map((line) =>
      columns
        .map((name, index) => (line[name] ?? '').padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
