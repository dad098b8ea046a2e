import type { Plugin } from 'vite';

/**
 * Names a font in the page: browsers ask for it when a text is shown in it otherwise, and then everything moves a little
 * when it comes. Behind the scripts, because nothing has text without them.
 */
export const earlyFont = (name: RegExp): Plugin => ({
  name: 'early-font',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle = {} }) => {
      const file = Object.keys(bundle).find((path) => name.test(path));
      if (file === undefined) throw new Error(`No font is called ${name.source}.`);
      const attrs = {
        rel: 'preload',
        as: 'font',
        type: 'font/woff2',
        crossorigin: true,
        fetchpriority: 'low',
        href: `/console/${file}`,
      };
      return [{ tag: 'link', attrs, injectTo: 'head' }];
    },
  },
});
