import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@plinth/testing/eventually';

type State = { ready?: boolean; processes: { name: string; pid?: number; ends: number }[] };

const launcher = join(__dirname, '..');
let data: string;
let supervising: ChildProcess;

beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'plinth-supervisor-'));
  supervising = supervise();
  await eventually(() => state().ready === true);
});

afterEach(async () => {
  supervising.kill('SIGTERM');
  spawnSync(process.execPath, [join(launcher, 'stop.mjs'), '--data', data]);
  rmSync(data, { recursive: true, force: true });
});

test('starts a process again that was killed', async () => {
  const first = pidOf('under');
  process.kill(first, 'SIGKILL');
  await eventually(() => pidOf('under') !== first && isAlive(pidOf('under')));
  expect(state().processes.find(({ name }) => name === 'under')?.ends).toBe(1);
});

test('ends what stands above before what lies under it', async () => {
  supervising.kill('SIGTERM');
  await eventually(() => supervising.exitCode !== null);
  expect(endedAt('above')).toBeLessThanOrEqual(endedAt('under'));
});

test('finds and ends what a killed launcher left behind', async () => {
  const left = [pidOf('above'), pidOf('under')];
  supervising.kill('SIGKILL');
  await eventually(() => supervising.signalCode !== null);
  expect(left.every(isAlive)).toBe(true);
  spawnSync(process.execPath, [join(launcher, 'stop.mjs'), '--data', data]);
  await eventually(() => !left.some(isAlive));
});

test('shows each process and its health', () => {
  const { stdout, status } = spawnSync(process.execPath, [join(launcher, 'status.mjs'), '--data', data], {
    encoding: 'utf8',
  });
  expect(stdout).toMatch(/under +\d+ +\d+ +0 +.* healthy/);
  expect(status).toBe(0);
});

function supervise() {
  return spawn(process.execPath, [join(__dirname, 'supervise-two.mjs'), data], { stdio: 'inherit' });
}

function state(): State {
  try {
    return JSON.parse(readFileSync(join(data, 'processes.json'), 'utf8'));
  } catch {
    return { processes: [] };
  }
}

function pidOf(process: string): number {
  return state().processes.find(({ name }) => name === process)?.pid ?? 0;
}

function endedAt(process: string): number {
  return Number(/ended \w+ (\d+)/.exec(readFileSync(join(data, 'logs', `${process}.log`), 'utf8'))?.[1]);
}

/** Asked as the launcher asks, to whom a zombie is dead. */
function isAlive(pid: number): boolean {
  const script = `
    import { birthOf } from ${JSON.stringify(join(launcher, 'process-identity.mjs'))};
    process.exit(birthOf(${pid}) === undefined ? 1 : 0);`;
  return pid !== 0 && spawnSync(process.execPath, ['--input-type=module', '-e', script]).status === 0;
}
