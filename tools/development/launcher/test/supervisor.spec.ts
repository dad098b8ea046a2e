import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@plinth/testing/eventually';

type State = { ready?: boolean; processes: { name: string; pid?: number; exits: number }[] };

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

describe('the supervisor of the launcher', () => {
  it('starts a process again that was killed', async () => {
    const first = pidOf('server');
    process.kill(first, 'SIGKILL');
    await eventually(() => pidOf('server') !== first && isAlive(pidOf('server')));
    expect(state().processes.find(({ name }) => name === 'server')?.exits).toBe(1);
  });

  it('stops services before the servers that they use', async () => {
    supervising.kill('SIGTERM');
    await eventually(() => supervising.exitCode !== null);
    expect(stoppedAt('service')).toBeLessThanOrEqual(stoppedAt('server'));
  });

  it('stops everything when the process that it was started for has been killed', async () => {
    supervising.kill('SIGTERM');
    await eventually(() => supervising.exitCode !== null);
    const parent = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    supervising = supervise(parent.pid);
    await eventually(() => state().ready === true);
    const running = [pidOf('service'), pidOf('server')];
    parent.kill('SIGKILL');
    await eventually(() => supervising.exitCode !== null);
    expect(running.some(isAlive)).toBe(false);
  });

  it('stops what a killed launcher left running', async () => {
    const left = [pidOf('service'), pidOf('server')];
    supervising.kill('SIGKILL');
    await eventually(() => supervising.signalCode !== null);
    expect(left.every(isAlive)).toBe(true);
    spawnSync(process.execPath, [join(launcher, 'stop.mjs'), '--data', data]);
    await eventually(() => !left.some(isAlive));
  });

  it('lists each process and its health for npm run status', async () => {
    // On a busy machine one may not respond in the time that a person has.
    await eventually(() => {
      const args = [join(launcher, 'status.mjs'), '--data', data];
      const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      expect(stdout).toMatch(/server +\d+ +\d+ +0 +.* healthy/);
      expect(status).toBe(0);
      return true;
    });
  });
});

/** @param parent the process that it is for */
function supervise(parent?: number) {
  const args = [data, ...(parent === undefined ? [] : [String(parent)])];
  return spawn(process.execPath, [join(__dirname, 'supervise-two.mjs'), ...args], { stdio: 'inherit' });
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

function stoppedAt(process: string): number {
  return Number(/stopped \w+ (\d+)/.exec(readFileSync(join(data, 'logs', `${process}.log`), 'utf8'))?.[1]);
}

/** By the function of the launcher, for which a zombie is dead. */
function isAlive(pid: number): boolean {
  const script = `
    import { birthOf } from ${JSON.stringify(join(launcher, 'process-identity.mjs'))};
    process.exit(birthOf(${pid}) === undefined ? 1 : 0);`;
  return pid !== 0 && spawnSync(process.execPath, ['--input-type=module', '-e', script]).status === 0;
}
