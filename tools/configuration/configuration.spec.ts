import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { launcherVariables } from './launcher-variables';

const root = join(__dirname, '../..');

describe('docs/configuration.md', () => {
  it('says what the schemas of all processes say', () => {
    const node = join(root, 'node_modules/.bin/node');
    const check = () =>
      execFileSync(node, ['tools/configuration/configuration.ts', '--check'], { cwd: root, stdio: 'pipe' });
    expect(check).not.toThrow();
  });

  it('knows every variable that the launcher, the tests and migrations read', () => {
    const files = ['launcher', 'migrate', 'seed', 'demo'].flatMap((folder) =>
      sourcesOf(join(root, 'tools', folder)),
    );
    const read = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/process\.env\.([A-Z][A-Z_]*)/g)].map(([, name]) => name!),
    );
    const known = [...launcherVariables.map(({ name }) => name), ...ofTheSystem, ...internal];
    expect([...new Set(read)].filter((name) => !known.includes(name))).toEqual([]);
  });
});

const ofTheSystem = ['HOME', 'PATH', 'DISPLAY', 'NO_COLOR', 'CI'];
/** What one of the project's own commands tells another. */
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
