import { relative } from 'node:path';
import { demoTenant } from './environment.mjs';
import { root } from './paths.mjs';

const demoAdmin = { sub: 'demo-admin', name: 'Demo Admin', tenantId: demoTenant.id, roles: ['admin'] };
const usualExamples = [
  '/localization?cultureName=fr',
  '/api/v1/settings/user',
  '/api/v1/exports/definitions',
];
const EXAMPLES_MAX = 3;

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
 * Calls that work: of the services that run for real, where not all do, else of the whole platform.
 * @param {string} url
 * @param {string[] | undefined} only
 * @returns {Promise<string[]>}
 */
export async function examplesOf(url, only) {
  if (only === undefined) return usualExamples;
  const { paths } = /** @type {{ paths: Record<string, { get?: Operation }> }} */ (
    await (await fetch(`${url}/openapi.json`)).json()
  );
  const tags = only.map(tagOf);
  return Object.entries(paths)
    .filter(([, { get }]) => get?.tags.some((tag) => tags.includes(tag)) && !isStream(get))
    .sort(([left], [right]) => placeholders(left) - placeholders(right))
    .slice(0, EXAMPLES_MAX)
    .map(([path]) => path.replace(/\{(\w+)\}/g, 'example'));
}

/** @typedef {{ tags: string[], responses: Record<string, { content?: Record<string, unknown> }> }} Operation */

/** A stream would keep curl waiting. @param {Operation} operation */
const isStream = ({ responses }) => 'text/event-stream' in (responses['200']?.content ?? {});

/** `data-exchange` is tagged `Data exchange`. @param {string} service */
const tagOf = (service) => service.replaceAll('-', ' ').replace(/^./, (letter) => letter.toUpperCase());

/** @param {string} path */
const placeholders = (path) => path.split('{').length - 1;

/**
 * What a person wants to know once everything runs.
 * @param {{ url: string, token: string | undefined, temporalPages: string | undefined, layout: import('./paths.mjs').Layout, examples: string[], footer: string }} state
 */
export function welcome({ url, token, temporalPages, layout, examples, footer }) {
  return [
    '',
    `Plinth is ready: ${url}`,
    '',
    `  Console        ${url}/console`,
    `  API reference  ${url}/docs`,
    ...(temporalPages === undefined ? [] : [`  Temporal       ${temporalPages}`]),
    `  Logs           ${relative(root, layout.logs) || layout.logs}`,
    ...(token === undefined ? [] : exampleLines(url, token, examples)),
    '',
    footer,
  ].join('\n');
}

/** @param {string} url @param {string} token @param {string[]} examples */
function exampleLines(url, token, examples) {
  return [
    '',
    `  A token of ${demoAdmin.name} in the tenant ${demoTenant.shortName}, and calls that work:`,
    '',
    `  TOKEN=${token}`,
    ...examples.map((path) => `  curl -H "authorization: Bearer $TOKEN" "${url}${path}"`),
  ];
}
