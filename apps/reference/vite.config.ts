import { join } from 'node:path';
import { defineConfig } from 'vite';

const root = join(import.meta.dirname, '../..');

export default defineConfig({
  root: import.meta.dirname,
  base: '/docs/',
  cacheDir: join(root, 'node_modules/.vite/reference'),
  build: {
    outDir: join(root, 'dist/apps/reference'),
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the page allows no `data:` scripts.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2_000,
  },
});
