import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@plinth/testing/eventually';

const lockModule = JSON.stringify(join(__dirname, '..', 'lock.mjs'));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-lock-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('withLock', () => {
  it('lets one process in at a time', async () => {
    const diary = join(folder, 'diary');
    const work = `
    appendFileSync(${JSON.stringify(diary)}, 'in ');
    await new Promise((resolve) => setTimeout(resolve, 50));
    appendFileSync(${JSON.stringify(diary)}, 'out ');`;
    await Promise.all([1, 2, 3, 4].map(() => once(locked(work), 'exit')));
    expect(readFileSync(diary, 'utf8')).toBe('in out '.repeat(4));
  });

  it('takes over from a holder that was killed', async () => {
    const holder = locked('await new Promise(() => setInterval(() => {}, 1000));');
    await eventually(
      () => existsSync(join(folder, 'lock')) && readFileSync(join(folder, 'lock'), 'utf8') !== '',
    );
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect(spawnSync(process.execPath, nodeArguments('')).status).toBe(0);
  });

  it('takes over what a holder left that was killed while it wrote its name', () => {
    writeFileSync(join(folder, 'lock'), '');
    const { status } = spawnSync(process.execPath, nodeArguments(''), { timeout: 120_000 });
    expect(status).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });
});

function locked(work: string) {
  return spawn(process.execPath, nodeArguments(work), { stdio: 'inherit' });
}

function nodeArguments(work: string): string[] {
  const script = `
    import { appendFileSync } from 'node:fs';
    import { withLock } from ${lockModule};
    await withLock(${JSON.stringify(join(folder, 'lock'))}, async () => {${work}});`;
  return ['--input-type=module', '-e', script];
}
