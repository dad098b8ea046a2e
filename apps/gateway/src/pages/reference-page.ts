import { hash } from 'node:crypto';
import type { Response } from 'express';
import { sendHtml } from './html';
import { onlyMethods, type PageGroup } from './pages';
import { REFERENCE_SCRIPT } from './reference-script';
import { REFERENCE_STYLE } from './reference-style';

/** The page loads from and connects to this gateway only. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Asset {
  path: string;
  type: string;
  text: string;
}

/** `/docs`: the API reference, where a user with a token can try every endpoint. It works without internet access. */
export function referencePage(options: { hasDevIssuer: boolean }): PageGroup {
  const script = createAsset('reference', 'js', 'text/javascript', REFERENCE_SCRIPT);
  const style = createAsset('reference', 'css', 'text/css', REFERENCE_STYLE);
  const html = referenceHtml(script, style, options.hasDevIssuer);
  return {
    path: '/docs',
    mount(app) {
      app.get('/docs', (_request, response) => sendHtml(response, html, CONTENT_SECURITY_POLICY));
      onlyMethods(app, '/docs', 'GET', 'HEAD');
      for (const asset of [script, style]) {
        app.get(asset.path, (_request, response) => sendAsset(response, asset));
        onlyMethods(app, asset.path, 'GET', 'HEAD');
      }
    },
  };
}

/** The name changes with the content, so that browsers may cache it forever. */
const createAsset = (name: string, extension: string, type: string, text: string): Asset => ({
  path: `/docs/${name}-${hash('sha256', text).slice(0, 12)}.${extension}`,
  type,
  text,
});

function sendAsset(response: Response, { type, text }: Asset): void {
  response
    .set('content-type', `${type}; charset=utf-8`)
    .set('cache-control', 'public, max-age=86400, immutable')
    .send(text);
}

const referenceHtml = (script: Asset, style: Asset, hasDevIssuer: boolean): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>API reference · Plinth</title>
<link rel="stylesheet" href="${style.path}">
<script src="${script.path}" defer></script>
</head>
<body data-dev-issuer="${hasDevIssuer}">
<header>
<a class="brand" href="/docs">Plinth</a>
<form id="credential">
<label>Token <input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="Bearer token"></label>
<span id="who"></span>
</form>
</header>
<nav aria-label="Endpoints">
<input id="search" type="search" placeholder="Search endpoints" aria-label="Search endpoints">
<div id="index"></div>
</nav>
<main id="main" tabindex="-1"><p class="quiet">Loading…</p></main>
<noscript>This page needs JavaScript; <a href="/openapi.json">openapi.json</a> does not.</noscript>
</body>
</html>
`;
