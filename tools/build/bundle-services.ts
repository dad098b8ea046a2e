import { build, type OutputFile } from 'esbuild';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root } from '../launcher/paths.mjs';
import { discoverServices } from '../launcher/services.mjs';
import { bundleOptions } from './bundle-options.ts';

/** The programs that a service may consist of. */
const processes = ['main', 'worker', 'sandbox', 'formats/workbook-reader'];

/** Bundles every process of every service to `dist/apps/<name>/`; answers how many files changed. */
export async function bundleServices(): Promise<number> {
  const services = discoverServices().filter(({ hasMain }) => hasMain);
  const entryPoints = services.flatMap(({ name, directory }) =>
    processes
      .map((process) => ({ in: join(directory, 'src', `${process}.ts`), out: join(name, basename(process)) }))
      .filter((entry) => existsSync(entry.in)),
  );
  if (entryPoints.length === 0) return 0;
  const { outputFiles } = await build({
    ...bundleOptions,
    entryPoints,
    outdir: join(root, 'dist', 'apps'),
    write: false,
  });
  return outputFiles.filter(publish).length;
}

/** In one step, because a running platform may start a process from these files at any moment. */
function publish({ path, contents }: OutputFile): boolean {
  if (existsSync(path) && readFileSync(path).equals(contents)) return false;
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, contents);
  renameSync(draft, path);
  return true;
}
