import { readFileSync } from 'node:fs';
import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';

/** Made by pages.ts. */
const { base, sidebar } = JSON.parse(readFileSync(new URL('generated/site.json', import.meta.url), 'utf8'));

export default defineConfig({
  base,
  outDir: '../site',
  trailingSlash: 'always',
  integrations: [
    starlight({
      title: 'Plinth',
      favicon: '/icon.svg',
      logo: { src: './public/icon.svg', alt: '' },
      sidebar,
      customCss: ['@fontsource-variable/inter', './src/styles/plinth.css'],
      components: { MarkdownContent: './src/components/MarkdownContent.astro' },
      // Its text is in files that nobody edits on a page of their own.
      editLink: undefined,
      lastUpdated: false,
      credits: false,
      // A comment with an address in it is what a call answers, not the name of a file.
      expressiveCode: { frames: { extractFileNameFromCode: false } },
    }),
  ],
});
