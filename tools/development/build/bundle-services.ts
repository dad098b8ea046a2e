import { build, type BuildOptions, type OutputFile } from 'esbuild';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root } from '../launcher/paths.mjs';
import type { Service } from '../launcher/services.mjs';
import { bundleOptions } from './bundle-options.ts';

const processes = ['main', 'worker', 'sandbox', 'formats/workbook-reader'];

/** Bundles every process of services to `dist/apps/<name>/`; answers how many files changed. */
export async function bundleServices(services: Service[]): Promise<number> {
  const entryPoints = services.flatMap(entryPointsOf);
  if (entryPoints.length === 0) return 0;
  const { outputFiles } = await build({ ...serviceBundleOptions, entryPoints });
  return outputFiles.filter(publish).length;
}

/** The options for bundles of services, which are given back instead of written. */
export const serviceBundleOptions = {
  ...bundleOptions,
  outdir: join(root, 'dist', 'apps'),
  write: false,
} as const satisfies BuildOptions;

/** The programs that a service consists of. */
export function entryPointsOf({ name, directory }: Service): { in: string; out: string }[] {
  return processes
    .map((process) => ({ in: join(directory, 'src', `${process}.ts`), out: join(name, basename(process)) }))
    .filter((entry) => existsSync(entry.in));
}

/**
 * Writes a file where its contents changed; answers whether they did. In one step, because a running platform may start
 * a process from it at any moment.
 */
export function publish({ path, contents }: OutputFile): boolean {
  if (existsSync(path) && readFileSync(path).equals(contents)) return false;
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, contents);
  renameSync(draft, path);
  return true;
}
