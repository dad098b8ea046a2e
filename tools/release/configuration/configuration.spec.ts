import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { launcherVariables } from './launcher-variables';

const root = join(__dirname, '../../..');

describe('docs/configuration.md', () => {
  it('lists the variables of all processes as their schemas describe them', () => {
    const node = join(root, 'node_modules/.bin/node');
    const check = () =>
      execFileSync(node, ['tools/release/configuration/configuration.ts', '--check'], {
        cwd: root,
        stdio: 'pipe',
      });
    expect(check).not.toThrow();
  });

  it('lists every variable that the launcher, the tests and migrations read', () => {
    const files = [
      'development/launcher',
      'operations/migrate',
      'development/seed',
      'development/demo',
    ].flatMap((folder) => sourcesOf(join(root, 'tools', folder)));
    const read = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/process\.env\.([A-Z][A-Z_]*)/g)].map(([, name]) => name!),
    );
    const known = [...launcherVariables.map(({ name }) => name), ...ofTheSystem, ...internal];
    expect([...new Set(read)].filter((name) => !known.includes(name))).toEqual([]);
  });
});

const ofTheSystem = ['NODE_COMPILE_CACHE', 'HOME', 'PATH', 'DISPLAY', 'NO_COLOR', 'CI'];
/** Variables that one of the project's commands sets for another. */
const internal = ['PLINTH_URL', 'PLINTH_TOKEN'];

const sourcesOf = (folder: string): string[] => {
  try {
    return readdirSync(folder, { recursive: true })
      .map(String)
      .filter((name) => /\.(ts|mjs)$/.test(name) && !name.endsWith('.spec.ts'))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
};
