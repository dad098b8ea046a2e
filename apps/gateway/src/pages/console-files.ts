import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';

/** A built file of the console, with its Brotli form where the build made one. */
export interface ConsoleFile {
  type: string;
  bytes: Buffer;
  brotli: Buffer | undefined;
}

export interface ConsoleFiles {
  /** The page of every address of the console. */
  page: string;
  /** The others by their path below `/console/`; their names change with their content. */
  assets: ReadonlyMap<string, ConsoleFile>;
}

/** An image holds the console beside the gateway, a build beside the folder of the gateway. */
const PLACES = ['console', '../console'];

/** The folder with the built console; undefined where it is not built. */
export function findConsoleFiles(configured: string | undefined): string | undefined {
  const places = configured === undefined ? PLACES.map((place) => join(__dirname, place)) : [configured];
  return places.find((place) => existsSync(join(place, 'index.html')));
}

const typeByExtension: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Reads all files at once: they are small, and no request then reaches the file system. */
export function readConsoleFiles(folder: string): ConsoleFiles {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extname(entry.name) in typeByExtension)
    .map((entry) => join(entry.parentPath, entry.name));
  const assets = paths.map((path): [string, ConsoleFile] => [
    relative(folder, path),
    {
      type: typeByExtension[extname(path)]!,
      bytes: readFileSync(path),
      brotli: existsSync(`${path}.br`) ? readFileSync(`${path}.br`) : undefined,
    },
  ]);
  return { page: readFileSync(join(folder, 'index.html'), 'utf8'), assets: new Map(assets) };
}
