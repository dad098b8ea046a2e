import { hashedEntityTag } from '@plinth/kernel/entity-tag';
import type { Response } from 'express';

const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1d2433, #e7eaf0); --paper: light-dark(#fff, #12151c); --line: light-dark(#d9dee8, #313849); --accent: light-dark(#1f5fbf, #7db3ff); }
body { font: 16px/1.6 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 48rem; margin: 3rem auto; padding: 0 1.25rem; }
a { color: var(--accent); } code { font-family: ui-monospace, monospace; font-size: .92em; }
.kicker { color: color-mix(in srgb, var(--ink) 65%, transparent); margin: 0; }
h1 { margin: .25rem 0 1rem; line-height: 1.25; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
`;

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** A small page in the platform's style. */
export const htmlPage = (title: string, body: string): string =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)} · Plinth</title><style>${STYLE}</style></head>
<body>${body}</body></html>
`;

/** Sends a page that may not load or run anything. */
export function sendHtml(
  response: Response,
  html: string,
  contentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'",
): void {
  response
    .set('content-type', 'text/html; charset=utf-8')
    .set('cache-control', 'public, max-age=3600')
    .set('content-security-policy', contentSecurityPolicy)
    .set('referrer-policy', 'no-referrer')
    .set('etag', hashedEntityTag(html))
    .send(html);
}
