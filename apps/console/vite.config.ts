import { join } from 'node:path';
import optimizeLocales from '@react-aria/optimize-locales-plugin';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const root = join(import.meta.dirname, '../..');
/** The languages of the platform; the component library brings thirty more. */
const locales = ['en-US', 'fr-FR'];

/** What pages share and what needs nothing of the component library, and what most of those with fields share of it. */
const common =
  /lucide-react|\/libs\/|@tanstack|src\/api\/|(use-debounced|use-render-data|sample-data)\.ts$|-(name|names|status)\.tsx?$|forms\/rule-text|back-to-\w+\.tsx$|components\/(page|paged-list|table-frame|column-table|relative-time|steps|stored-state|save-file|later|after-paint|near-window|confirm)\.tsx?$|workflows\/drawing\.tsx$/;
const controls =
  /react-aria|react-stately|@internationalized|components\/(select|text-field|choices|icon-button)\.tsx$/;

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  cacheDir: join(root, 'node_modules/.vite/console'),
  resolve: { alias: [{ find: /^@plinth\/(\w+)\/(.*)$/, replacement: join(root, 'libs/$1/src/$2') }] },
  plugins: [react(), { ...(optimizeLocales.vite({ locales }) as Plugin), enforce: 'pre' }],
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: join(root, 'dist/apps/console'),
    emptyOutDir: true,
    target: 'es2023',
    // Browsers that know `light-dark()`: otherwise it becomes media queries, which a choice of the person cannot change.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // Small, and a style that failed without a connection would not be asked for again.
    cssCodeSplit: false,
    // The policy of the page allows `data:` images only. There is one, of 193 bytes, which is what a page begins with.
    assetsInlineLimit: (path) => path.endsWith('.svg'),
    reportCompressedSize: false,
    // Says which scripts a page needs; the tests read it.
    manifest: true,
    rollupOptions: {
      // Contracts and shapes are declarations: a page carries those that it uses.
      treeshake: { moduleSideEffects: (id) => !id.includes('/libs/') },
      output: {
        // On a slow network each file costs a round trip, and a page would have fifty.
        codeSplitting: {
          groups: [
            { name: 'application', tags: ['$initial'] },
            { name: 'common', test: common, minShareCount: 2, includeDependenciesRecursively: false },
            { name: 'controls', test: controls, minShareCount: 8, includeDependenciesRecursively: false },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/localization', '/me', '/operations', '/dev', '/console/configuration', '/console/blank'].map(
        (path) => [path, process.env['PLINTH_URL'] ?? 'http://localhost:8080'],
      ),
    ),
  },
});
