import { relative } from 'node:path';
import { demoTenant } from './environment.mjs';
import { root } from './paths.mjs';

const demoAdmin = { sub: 'demo-admin', name: 'Demo Admin', tenantId: demoTenant.id, roles: ['admin'] };
const examples = ['/localization?cultureName=fr', '/api/v1/settings/user', '/api/v1/exports/definitions'];

/** A token of the demo tenant's administrator. @param {string} url @returns {Promise<string | undefined>} */
export async function demoToken(url) {
  const response = await fetch(`${url}/dev/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(demoAdmin),
  }).catch(() => undefined);
  if (response === undefined || !response.ok) return undefined;
  const { accessToken } = /** @type {{ accessToken?: string }} */ (await response.json());
  return accessToken;
}

/**
 * What a person wants to know once everything runs.
 * @param {{ url: string, token: string | undefined, temporalPages: string | undefined, layout: import('./paths.mjs').Layout, footer: string }} facts
 */
export function welcome({ url, token, temporalPages, layout, footer }) {
  return [
    '',
    `Plinth is ready: ${url}`,
    '',
    `  API reference  ${url}/docs`,
    ...(temporalPages === undefined ? [] : [`  Temporal       ${temporalPages}`]),
    `  Logs           ${relative(root, layout.logs) || layout.logs}`,
    ...(token === undefined ? [] : exampleLines(url, token)),
    '',
    footer,
  ].join('\n');
}

/** @param {string} url @param {string} token */
function exampleLines(url, token) {
  return [
    '',
    `  A token of ${demoAdmin.name} in the tenant ${demoTenant.shortName}, and three calls:`,
    '',
    `  TOKEN=${token}`,
    ...examples.map((path) => `  curl -H "authorization: Bearer $TOKEN" "${url}${path}"`),
  ];
}
