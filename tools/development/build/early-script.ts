import { createHash } from 'node:crypto';
import { build } from 'esbuild';
import type { Plugin } from 'vite';

/**
 * A small script that a page begins with, complete in itself. Among the entries of the application it would be joined with
 * them, and wait for what they import.
 */
export function earlyScript(source: string): Plugin {
  let fileName = '';
  return {
    name: 'early-script',
    apply: 'build',
    async buildStart() {
      const { outputFiles } = await build({
        entryPoints: [source],
        bundle: true,
        minify: true,
        target: 'es2023',
        write: false,
      });
      const { text } = outputFiles[0]!;
      const hash = createHash('sha256').update(text).digest('base64url').slice(0, 8);
      fileName = `assets/start-${hash}.js`;
      this.emitFile({ type: 'asset', fileName, source: text });
    },
    transformIndexHtml: () => [
      {
        tag: 'script',
        attrs: { src: `/console/${fileName}`, async: true, fetchpriority: 'high' },
        // Before the application, which it does not wait for, nor the other way round.
        injectTo: 'head-prepend',
      },
    ],
  };
}
