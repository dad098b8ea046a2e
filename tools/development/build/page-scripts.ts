import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

/** The part of a chunk that is needed here. */
interface Chunk {
  type: 'chunk' | 'asset';
  fileName: string;
  isEntry?: boolean;
  imports?: string[];
  facadeModuleId?: string | null;
}

/**
 * Writes `pages.json`: the scripts of each page by its path, without those that every page has. The gateway names them in
 * the page that it sends, so that they are on their way before the application knows its address (ADR 0043).
 */
export const pageScripts = (router: string): Plugin => ({
  name: 'page-scripts',
  apply: 'build',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      const chunks = Object.values(bundle as Record<string, Chunk>).filter(({ type }) => type === 'chunk');
      const pages = routesOf(router).map(([path, module]) => [path, scriptsOf(chunks, module)]);
      this.emitFile({
        type: 'asset',
        fileName: 'pages.json',
        source: JSON.stringify(Object.fromEntries(pages)),
      });
    },
  },
});

/** The paths of the routes that have a page, each with the module of that page. */
function routesOf(router: string): [path: string, module: string][] {
  const [, ...routes] = readFileSync(router, 'utf8').split(/createRoute\(/);
  return routes.flatMap((route): [string, string][] => {
    const path = /\bpath: '([^']+)'/.exec(route)?.[1];
    const module = /\bpage\(\(\) => import\('([^']+)'\)/.exec(route)?.[1];
    return path && module ? [[path, `${join(dirname(router), module)}.tsx`]] : [];
  });
}

function scriptsOf(chunks: readonly Chunk[], page: string): string[] {
  const files = new Set<string>();
  const collect = ({ fileName, isEntry, imports = [] }: Chunk): void => {
    if (isEntry || files.has(fileName)) return;
    files.add(fileName);
    for (const name of imports) collect(chunks.find((chunk) => chunk.fileName === name)!);
  };
  const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId === page);
  if (!chunk) throw new Error(`${page} has no script of its own.`);
  collect(chunk);
  return [...files];
}
