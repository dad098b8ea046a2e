import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isBuiltin } from 'node:module';

/** A package as it lies on the disk. */
export type Package = {
  readonly name: string;
  readonly version: string;
  readonly license: string | undefined;
  /** Below the folder of the project, such as `node_modules/a/node_modules/b`. */
  readonly place: string;
};

type Manifest = {
  name: string;
  version: string;
  license?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
};

/** The names of packages that a bundle asks for while it runs. */
export function packagesAskedFor(code: string): string[] {
  const asked = code.matchAll(/\b(?:require|require\.resolve|import)\("([^"./][^"]*)"\)/g);
  const names = [...asked].map(([, path]) => path!).filter((path) => !isBuiltin(path));
  return [
    ...new Set(
      names.map((path) =>
        path
          .split('/')
          .slice(0, path.startsWith('@') ? 2 : 1)
          .join('/'),
      ),
    ),
  ];
}

/** These packages and everything they need, found as Node.js finds them. */
export function closureOf(root: string, names: readonly string[]): Package[] {
  const found = new Map<string, Package>();
  const visit = (name: string, from: string, isNeeded: boolean): void => {
    const place = placeOf(root, name, from);
    if (place === undefined) {
      if (isNeeded) throw new Error(`${name}, which ${from || 'the bundle'} needs, is not installed.`);
      return;
    }
    if (found.has(place)) return;
    const manifest: Manifest = JSON.parse(readFileSync(join(root, place, 'package.json'), 'utf8'));
    found.set(place, { name, version: manifest.version, license: manifest.license, place });
    for (const one of Object.keys(manifest.dependencies ?? {})) {
      visit(one, place, manifest.optionalDependencies?.[one] === undefined);
    }
    for (const one of Object.keys(manifest.optionalDependencies ?? {})) visit(one, place, false);
    for (const one of Object.keys(manifest.peerDependencies ?? {})) {
      if (manifest.peerDependenciesMeta?.[one]?.optional !== true) visit(one, place, false);
    }
  };
  for (const name of names) visit(name, '', true);
  return [...found.values()].sort((a, b) => a.place.localeCompare(b.place));
}

/** The nearest `node_modules` with the package, from the folder outwards. */
function placeOf(root: string, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (folder === '.') folder = '';
    const place = join(folder, 'node_modules', name);
    if (existsSync(join(root, place, 'package.json'))) return place;
    if (folder === '') return undefined;
  }
}
