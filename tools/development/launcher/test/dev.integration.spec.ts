import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@plinth/testing/eventually';
import { freePort } from '@plinth/testing/free-port';
import { prepareCode } from '@plinth/testing/prepare-code';

const START_MILLISECONDS_MAX = 240_000;

const built = join(__dirname, '../../../../dist/apps');

let copy: string;
let dev: ChildProcess;
let output = '';

/** In a copy of the project, because the tests edit its sources. */
beforeAll(async () => {
  // What browsers get and workflows take longest to build, and nothing of them is edited here.
  prepareCode();
  copy = mkdtempSync(join(tmpdir(), 'plinth-dev-'));
  // Where the user of PostgreSQL cannot reach it, its data would be elsewhere and stay.
  chmodSync(copy, 0o755);
  execFileSync('node', [join(__dirname, '..', 'copy-project.mjs'), copy]);
  cpSync(built, join(copy, 'dist/apps'), { recursive: true, preserveTimestamps: true });
  const options = ['--only', 'settings', '--inspect', '--port', String(await freePort())];
  dev = spawn('node', ['tools/development/launcher/dev.mjs', ...options], { cwd: copy });
  for (const stream of [dev.stdout!, dev.stderr!])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await until(/waits for changes/, 0, START_MILLISECONDS_MAX);
}, 2 * START_MILLISECONDS_MAX);

afterAll(() => {
  execFileSync('node', ['tools/development/launcher/stop.mjs'], { cwd: copy });
  rmSync(copy, { recursive: true, force: true });
});

describe('npm run dev -- --only settings', () => {
  it('makes nothing anew that is not out of date', () => {
    expect(output).toMatch(/✓ code +(built: \d+ files|up to date) \(/);
  });

  it('restarts the service from what was saved, and says how long it took', async () => {
    const [pid, from] = [pidOfSettings(), output.length];

    appendFileSync(main(), "console.log('edited once');\n");

    await until(/settings +restarted [\d.]+ s after the save of apps\/settings\/src\/main\.ts/, from);
    expect(pidOfSettings()).not.toBe(pid);
    expect(readFileSync(join(copy, '.plinth/logs/settings.log'), 'utf8')).toContain('edited once');
  });

  it('shows where a build error is, and keeps the old process until the error is mended', async () => {
    const [pid, from, good] = [pidOfSettings(), output.length, readFileSync(main(), 'utf8')];

    writeFileSync(main(), `${good}const broken = ;\n`);
    await until(/Unexpected ";"[^]*apps\/settings\/src\/main\.ts:\d+:\d+/, from);
    expect(pidOfSettings()).toBe(pid);

    writeFileSync(main(), `${good}console.log('mended');\n`);
    await until(/settings +restarted/, from);
    expect(pidOfSettings()).not.toBe(pid);
  });

  it('restarts every process that a change of a library concerns', async () => {
    const from = output.length;
    appendFileSync(join(copy, 'libs/runtime/src/process/lifecycle.ts'), "console.log('edited library');\n");
    // Not by the save before, of which there may be more than one event.
    await until(/settings +restarted [\d.]+ s after the save of libs/, from);
    await until(/gateway +restarted [\d.]+ s after the save of libs/, from);
  });

  it('says where a debugger may attach', async () => {
    const port = /settings .*debugger at 127\.0\.0\.1:(\d+)/.exec(output)?.[1];
    // While a process is replaced nobody is there.
    const response = await eventually(() => fetch(`http://127.0.0.1:${port}/json/list`));
    expect(await response.json()).toEqual([expect.objectContaining({ type: 'node' })]);
  });

  it('stops everything when it is interrupted', async () => {
    const pid = pidOfSettings();
    dev.kill('SIGINT');
    await eventually(() => dev.exitCode === 0);
    expect(existsSync(join(copy, '.plinth/processes.json'))).toBe(false);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

const main = () => join(copy, 'apps/settings/src/main.ts');

/** Waits until the output shows the pattern behind a place. */
function until(pattern: RegExp, from: number, millisecondsMax?: number) {
  return eventually(() => {
    if (pattern.test(output.slice(from))) return true;
    throw new Error(`Nothing like ${String(pattern)} in:\n${output.slice(from)}`);
  }, millisecondsMax);
}

function pidOfSettings(): number {
  const state = JSON.parse(readFileSync(join(copy, '.plinth/processes.json'), 'utf8')) as {
    processes: { name: string; pid: number }[];
  };
  return state.processes.find(({ name }) => name === 'settings')!.pid;
}
