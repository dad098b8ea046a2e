import { randomBytes } from 'node:crypto';
import type { ConsoleConfiguration } from '@plinth/contracts/platform/shapes';
import { notFound } from '@plinth/kernel/problem';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { ConsoleFile, ConsoleFiles } from './console-files';
import { onlyMethods, type PageGroup } from './pages';

type Configuration = z.input<typeof ConsoleConfiguration>;

/** The build writes it where the page names its nonce; each response has another one. */
const NONCE = '__CSP_NONCE__';

/** `/`: browsers are led to the console; for everybody else there is nothing. */
export const rootPage = (): PageGroup => ({
  path: '/',
  mount(app) {
    app.get('/', (request, response) => {
      if (!/\btext\/html\b/.test(request.headers.accept ?? '')) throw notFound('There is no resource at /.');
      response.set('cache-control', 'no-store').vary('Accept').redirect(302, '/console');
    });
  },
});

/** `/console`: the application for people. Its files come from this gateway, and it talks to nobody else but the issuer. */
export const consolePages = ({ page, assets }: ConsoleFiles, configuration: Configuration): PageGroup => ({
  path: '/console',
  unlimited: true,
  mount(app) {
    app.get('/console/configuration', (_request, response) => {
      response.set('cache-control', 'no-store').json(configuration);
    });
    onlyMethods(app, '/console/configuration', 'GET', 'HEAD');
    app.get('/console/configuration/*path', ({ path }) => {
      throw notFound(`There is no resource at ${path}.`);
    });
    app.get('/console/assets/*path', (request, response) => {
      const asset = assets.get(request.path.slice('/console/'.length));
      if (!asset) throw notFound(`There is no resource at ${request.path}.`);
      sendAsset(request, response, asset);
    });
    // The application knows its own addresses, so that a page can be reloaded and shared.
    for (const path of ['/console', '/console/', '/console/*path']) {
      app.get(path, (_request, response) => sendPage(response, page, configuration));
      onlyMethods(app, path, 'GET', 'HEAD');
    }
  },
});

function sendPage(response: Response, page: string, { openId }: Configuration): void {
  const nonce = randomBytes(16).toString('base64url');
  response
    .set('content-type', 'text/html; charset=utf-8')
    .set('cache-control', 'no-store')
    .set('content-security-policy', contentSecurityPolicy(nonce, openId?.issuer))
    .set('referrer-policy', 'no-referrer')
    .set('cross-origin-opener-policy', 'same-origin')
    .set('permissions-policy', 'camera=(), geolocation=(), microphone=()')
    .send(page.replaceAll(NONCE, nonce));
}

/** Styles that components make while they run carry the nonce; scripts are files, and nothing is evaluated. */
const contentSecurityPolicy = (nonce: string, issuer: string | undefined): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self'${issuer ? ` ${new URL(issuer).origin}` : ''}`,
    "frame-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

function sendAsset(request: Request, response: Response, { type, bytes, brotli }: ConsoleFile): void {
  const mayCompress = brotli !== undefined && request.acceptsEncodings('br') === 'br';
  response
    .set('content-type', type)
    .set('cache-control', 'public, max-age=86400, immutable')
    .vary('Accept-Encoding');
  if (mayCompress) response.set('content-encoding', 'br');
  response.send(mayCompress ? brotli : bytes);
}
