import type { Response } from 'express';
import { sessionEndpoints } from '@plinth/contracts/platform/session-endpoints';
import type { ConsoleConfiguration } from '@plinth/contracts/platform/shapes';
import { requireAcceptable } from '@plinth/http/acceptable';
import { notFound } from '@plinth/kernel/problem';
import type { z } from 'zod';
import { pageWithScripts } from './page-scripts';
import { onlyMethods, type PageGroup } from './pages';
import { mountAssets, sendWebPage, type WebFiles } from './web-files';

const { getConsoleConfiguration } = sessionEndpoints;

type Configuration = z.input<typeof ConsoleConfiguration>;

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
export const consolePages = (files: WebFiles, configuration: Configuration): PageGroup => ({
  path: '/console',
  unlimited: true,
  mount(app) {
    app.get(getConsoleConfiguration.path, (request, response) => {
      requireAcceptable(getConsoleConfiguration, request);
      response.set('cache-control', 'no-store').json(configuration);
    });
    onlyMethods(app, '/console/configuration', 'GET', 'HEAD');
    app.get('/console/configuration/*path', ({ path }) => {
      throw notFound(`There is no resource at ${path}.`);
    });
    mountAssets(app, '/console', files);
    app.get('/console/blank', (_request, response) => sendBlankPage(response));
    onlyMethods(app, '/console/blank', 'GET', 'HEAD');
    // The application knows its own addresses, so that a page can be reloaded and shared.
    const pageAt = pageWithScripts('/console', files);
    for (const path of ['/console', '/console/', '/console/*path']) {
      app.get(path, (request, response) => {
        response.set('cross-origin-opener-policy', 'same-origin');
        sendWebPage(response, pageAt(request.path), (nonce) =>
          contentSecurityPolicy(nonce, configuration.openId?.issuer),
        );
      });
      onlyMethods(app, path, 'GET', 'HEAD');
    }
  },
});

const BLANK_PAGE =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page</title></head><body></body></html>';

/**
 * Where the application shows what a template makes, in a frame. It may have any style, as documents carry theirs in
 * themselves, and nothing else: no script, no form, no request.
 */
function sendBlankPage(response: Response): void {
  response
    .set('content-type', 'text/html; charset=utf-8')
    .set('cache-control', 'public, max-age=3600')
    .set('content-security-policy', BLANK_PAGE_POLICY)
    .set('referrer-policy', 'no-referrer')
    .send(BLANK_PAGE);
}

const BLANK_PAGE_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  'sandbox allow-same-origin',
].join('; ');

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
