import type { ConsoleConfiguration } from '@plinth/contracts/platform/shapes';
import { postmanCollection } from '@plinth/contracts/openapi/postman-collection';
import type { z } from 'zod';
import { mountDocument } from './document';
import { htmlPage, sendHtml } from './html';
import { onlyMethods, type PageGroup } from './pages';
import { mountAssets, sendWebPage, type WebFiles } from './web-files';

type SignIn = z.input<typeof ConsoleConfiguration>;

const COLLECTION = 'plinth.postman_collection.json';

/**
 * `/docs`: the API reference, where a signed-in user can try every endpoint, and its document as a collection for
 * Postman. The page needs nobody but this gateway and the issuer.
 */
export function referencePage(document: object, signIn: SignIn, files: WebFiles | undefined): PageGroup {
  return {
    path: '/docs',
    // Opening the page must not use up what its requests may.
    unlimited: true,
    mount(app) {
      mountDocument(app, `/docs/${COLLECTION}`, {
        type: 'application/json',
        make: () => JSON.stringify(postmanCollection(document)),
        fileName: COLLECTION,
      });
      if (files === undefined) return;
      app.get('/docs', (_request, response) =>
        sendWebPage(response, files.page, (nonce) => contentSecurityPolicy(nonce, signIn.openId?.issuer)),
      );
      app.get('/docs/configuration', (_request, response) => {
        response.set('cache-control', 'no-store').json(signIn);
      });
      // The window in which a person signs in ends here; the page that opened it reads its address and closes it.
      app.get('/docs/signed-in', (_request, response) => sendHtml(response, SIGNED_IN));
      for (const path of ['/docs', '/docs/configuration', '/docs/signed-in'])
        onlyMethods(app, path, 'GET', 'HEAD');
      mountAssets(app, '/docs', files);
    },
  };
}

const SIGNED_IN = htmlPage('Signed in', '<h1>Signed in</h1><p>This window closes by itself.</p>');

/**
 * Scripts are files of this gateway, and nothing is evaluated. Style elements need the nonce. Scalar writes sizes and
 * colours into `style` attributes, which have no nonce; nothing can be loaded by them, because fonts and images come from
 * here only.
 */
const contentSecurityPolicy = (nonce: string, issuer: string | undefined): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self'${issuer ? ` ${new URL(issuer).origin}` : ''}`,
    "media-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
