import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { Plugin } from 'vite';

const compress = promisify(brotliCompress);
const SMALLEST_BYTES = 200;

/** Writes the Brotli form of every script and style beside it, so that nobody compresses while a page waits. */
export const compressAssets = (): Plugin => ({
  name: 'compress-assets',
  apply: 'build',
  // Only what is written is final: other plugins still change the bundle before.
  async writeBundle({ dir = '' }, bundle) {
    const names = Object.keys(bundle).filter((name) => /\.(js|css|svg)$/.test(name));
    await Promise.all(
      names.map(async (name) => {
        const source = await readFile(join(dir, name));
        if (source.length < SMALLEST_BYTES) return;
        const options = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
        await writeFile(join(dir, `${name}.br`), await compress(source, options));
      }),
    );
  },
});
