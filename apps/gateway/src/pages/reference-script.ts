/** Runs in the browser. Everything that comes from the document is set as text, never as HTML. */
export const REFERENCE_SCRIPT = String.raw`
'use strict';
const byId = (id) => document.getElementById(id);
let api;

function el(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in node && key !== 'list') node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

const resolve = (thing) =>
  thing && thing.$ref ? thing.$ref.slice(2).split('/').reduce((at, part) => at[part], api) : thing;

const operations = () =>
  Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })));

function prose(text) {
  return (text || '').split('\n\n').map((block) => {
    const lines = block.split('\n');
    if (lines.every((line) => line.startsWith('- '))) return el('ul', {}, lines.map((line) => el('li', {}, inline(line.slice(2)))));
    return el('p', {}, inline(block));
  });
}

const inline = (text) => text.split('\x60').map((part, index) => (index % 2 ? el('code', {}, part) : part));

function showIndex() {
  const wanted = byId('search').value.trim().toLowerCase().split(/\s+/);
  const found = operations().filter((operation) => {
    const text = [operation.method, operation.path, operation.summary, operation.operationId, ...operation.tags].join(' ').toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const groups = api.tags.map(({ name }) => [name, found.filter(({ tags }) => tags[0] === name)]).filter(([, members]) => members.length > 0);
  byId('index').replaceChildren(
    ...groups.flatMap(([tag, members]) => [
      el('h3', {}, tag),
      ...members.map((operation) => {
        const link = el('a', { href: '#' + operation.operationId, title: operation.summary },
          el('span', { className: 'method ' + operation.method }, operation.method),
          el('span', { className: 'path' + (operation.deprecated ? ' deprecated' : '') }, operation.path.replace('/api/v1', '')));
        if ('#' + operation.operationId === location.hash) link.setAttribute('aria-current', 'page');
        return link;
      }),
    ]),
    ...(found.length === 0 ? [el('p', { className: 'quiet' }, 'Nothing found.')] : []));
}

function showPage() {
  const operation = operations().find(({ operationId }) => '#' + operationId === location.hash);
  byId('main').replaceChildren(...(operation ? operationPage(operation) : welcomePage()));
  byId('main').scrollTop = 0;
  document.title = (operation ? operation.summary + ' · ' : '') + 'API reference · Plinth';
  showIndex();
}

const welcomePage = () => [
  el('h1', {}, api.info.title + ' API'),
  el('p', { className: 'quiet' }, 'Version ' + api.info.version + ' · ', el('a', { href: '/openapi.json' }, 'openapi.json'), ' · ', el('a', { href: '/problems' }, 'Problems')),
  ...prose(api.info.description),
  el('p', {}, 'Choose an endpoint on the left. With a token above, each one can be tried.'),
];

function operationPage(operation) {
  const parameters = (operation.parameters || []).map(resolve);
  return [
    el('h1', {}, operation.summary),
    el('p', { className: 'path' }, el('span', { className: 'method ' + operation.method }, operation.method + ' '), operation.path),
    operation.deprecated && el('p', { className: 'status bad' }, 'Deprecated.'),
    ...prose(operation.description),
    tryForm(operation, parameters),
    operation.requestBody && el('h2', {}, 'Request body'),
    operation.requestBody && bodyOf(operation.requestBody.content),
    el('h2', {}, 'Responses'),
    ...Object.entries(operation.responses).map(([status, response]) => responseOf(status, resolve(response))),
  ].filter(Boolean);
}

const bodyOf = (content) =>
  el('div', {}, Object.entries(content).map(([type, media]) => [
    el('h3', {}, type), media.schema && schemaOf(media.schema, 0), media.example !== undefined && el('pre', {}, JSON.stringify(media.example, null, 2))]));

const responseOf = (status, response) =>
  el('details', { open: status.startsWith('2') },
    el('summary', {}, el('span', { className: 'status ' + (status < '400' ? 'good' : 'bad') }, status), ' ', ...inline(response.description)),
    response.content && bodyOf(response.content));

function schemaOf(given, depth) {
  const name = given.$ref && given.$ref.split('/').pop();
  const schema = resolve(given);
  const members = schema.properties || (schema.items && resolve(schema.items).properties && { '[]': schema.items });
  if (!members || depth > 5) return el('span', { className: 'quiet' }, typeOf(given));
  const required = new Set(schema.required || []);
  return el('div', {}, name && el('span', { className: 'quiet' }, name),
    el('ul', { className: 'schema' }, Object.entries(members).map(([key, member]) => {
      const inner = resolve(member);
      const isNested = inner.properties || (inner.items && resolve(inner.items).properties);
      return el('li', {}, el('code', { className: required.has(key) ? 'required' : '' }, key), ' ',
        el('span', { className: 'quiet' }, typeOf(member) + (inner.description ? ' · ' + inner.description : '')),
        isNested && schemaOf(key === '[]' ? member : inner.items || member, depth + 1));
    })));
}

function typeOf(given) {
  const schema = resolve(given) || {};
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const choices = schema.anyOf || schema.oneOf;
  if (choices) return choices.map(typeOf).join(' | ');
  const limits = [schema.format, schema.maxLength && 'at most ' + schema.maxLength, schema.minimum !== undefined && 'from ' + schema.minimum, schema.maximum !== undefined && 'to ' + schema.maximum];
  const type = schema.type === 'array' ? 'array of ' + typeOf(schema.items || {}) : [schema.type || 'any'].flat().join(' | ');
  return [type, ...limits.filter(Boolean)].join(', ');
}

function tryForm(operation, parameters) {
  const [type, media] = Object.entries((operation.requestBody && operation.requestBody.content) || {})[0] || [];
  const fields = parameters.map((parameter) => ({ parameter, input: inputOf(parameter) }));
  const parts = type === 'multipart/form-data' ? Object.keys(media.schema.properties).map((name) => ({ name, input: el('input', name === 'file' ? { type: 'file' } : {}) })) : [];
  const body = media && parts.length === 0 ? el('textarea', { value: media.example === undefined ? '' : JSON.stringify(media.example, null, 2), spellcheck: false, ariaLabel: 'Request body' }) : undefined;
  const output = el('div', { ariaLive: 'polite' });
  const form = el('form', { className: 'try' },
    el('h2', {}, 'Try it'),
    fields.length + parts.length > 0 && el('table', {}, el('tbody', {},
      fields.map(({ parameter, input }) => el('tr', {}, el('td', {}, el('code', { className: parameter.required ? 'required' : '' }, parameter.name), el('div', { className: 'quiet' }, parameter.in + ' · ' + typeOf(parameter.schema))), el('td', {}, input), el('td', {}, ...inline(parameter.description || '')))),
      parts.map(({ name, input }) => el('tr', {}, el('td', {}, el('code', {}, name), el('div', { className: 'quiet' }, 'part')), el('td', {}, input), el('td', {}))))),
    body && el('h3', {}, 'Body'), body,
    el('p', {}, el('button', {}, 'Send')), output);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    output.replaceChildren(el('p', { className: 'quiet' }, 'Sending…'));
    output.replaceChildren(...(await send(operation, fields, parts, body, type).catch((error) => [el('p', { className: 'status bad' }, String(error))])));
  });
  return form;
}

function inputOf({ name, schema: given, description }) {
  const schema = resolve(given);
  const label = { ariaLabel: name, title: description || '' };
  if (schema.enum) return el('select', label, el('option', { value: '' }, ''), schema.enum.map((value) => el('option', { value }, String(value))));
  const placeholder = schema.properties ? Object.keys(schema.properties)[0] + '=value' : String(schema.default ?? (schema.examples || [''])[0]);
  return el('input', { ...label, placeholder, spellcheck: false });
}

async function send(operation, fields, parts, body, type) {
  const headers = new Headers();
  const token = byId('token').value.trim().replace(/^Bearer\s+/i, '');
  if (token) headers.set('Authorization', 'Bearer ' + token);
  const query = new URLSearchParams();
  let path = operation.path;
  for (const { parameter, input } of fields) {
    const value = input.value;
    if (parameter.in === 'path') path = path.replace('{' + parameter.name + '}', encodeURIComponent(value));
    else if (value === '') continue;
    else if (parameter.in === 'header') headers.set(parameter.name, value);
    else if (resolve(parameter.schema).properties) for (const pair of value.split('&')) query.append(parameter.name + '[' + pair.split('=')[0] + ']', pair.split('=').slice(1).join('='));
    else query.append(parameter.name, value);
  }
  let payload;
  if (parts.length > 0) {
    payload = new FormData();
    for (const { name, input } of parts) {
      if (input.type === 'file') { if (input.files[0]) payload.append(name, input.files[0]); }
      else payload.append(name, input.value);
    }
  } else if (body && body.value.trim() !== '') {
    headers.set('Content-Type', type);
    payload = body.value;
  }
  const url = path + (query.size > 0 ? '?' + query : '');
  const startedAt = performance.now();
  const response = await fetch(url, { method: operation.method, headers, body: payload, credentials: 'omit' });
  const shown = [
    el('h3', {}, 'Response'),
    el('p', {}, el('span', { className: 'status ' + (response.ok ? 'good' : 'bad') }, response.status + ' ' + response.statusText), ' ', el('span', { className: 'quiet' }, Math.round(performance.now() - startedAt) + ' ms · ' + operation.method + ' ' + url)),
    el('details', {}, el('summary', {}, 'Headers'), el('pre', {}, [...response.headers].map((pair) => pair.join(': ')).join('\n'))),
  ];
  return [...shown, await shownBody(response)];
}

async function shownBody(response) {
  const type = response.headers.get('content-type') || '';
  if (type.includes('json')) return el('pre', {}, JSON.stringify(await response.json(), null, 2));
  if (/^text\/(?!csv)/.test(type) && !type.includes('event-stream')) return el('pre', {}, await response.text());
  if (type.includes('event-stream')) return firstEvents(response);
  const blob = await response.blob();
  if (blob.size === 0) return el('p', { className: 'quiet' }, 'No body.');
  const name = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get('content-disposition') || '');
  return el('p', {}, el('a', { href: URL.createObjectURL(blob), download: name ? decodeURIComponent(name[1]) : 'response' }, 'Save ' + blob.size + ' bytes'));
}

function firstEvents(response) {
  const output = el('pre', {});
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  (async () => {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (!output.isConnected && output.textContent !== '') return reader.cancel();
      output.append(read.value);
    }
  })().catch(() => undefined);
  return output;
}

function offerDevToken() {
  const subject = el('input', { value: 'ada', size: 8, ariaLabel: 'User id', title: 'User id' });
  const tenant = el('input', { placeholder: 'tenant id (none: host)', size: 18, ariaLabel: 'Tenant id', title: 'Tenant id' });
  const roles = el('input', { value: 'admin', size: 8, ariaLabel: 'Roles', title: 'Roles, comma-separated' });
  const button = el('button', { className: 'plain', type: 'button', id: 'get-token' }, 'Get a token');
  button.addEventListener('click', async () => {
    const claims = { sub: subject.value, name: subject.value, roles: roles.value.split(',').map((role) => role.trim()).filter(Boolean) };
    if (tenant.value.trim()) claims.tenantId = tenant.value.trim();
    const response = await fetch('/dev/token', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(claims) });
    const body = await response.json();
    byId('token').value = response.ok ? body.accessToken : '';
    byId('who').textContent = response.ok ? 'Token for ' + subject.value : body.detail;
    sessionStorage.setItem('plinth-token', byId('token').value);
  });
  byId('credential').append(subject, tenant, roles, button);
}

async function start() {
  api = await (await fetch('/openapi.json')).json();
  byId('token').value = sessionStorage.getItem('plinth-token') || '';
  byId('token').addEventListener('change', () => sessionStorage.setItem('plinth-token', byId('token').value));
  byId('credential').addEventListener('submit', (event) => event.preventDefault());
  byId('search').addEventListener('input', showIndex);
  if (document.body.dataset.devIssuer === 'true') offerDevToken();
  addEventListener('hashchange', showPage);
  showPage();
}

start().catch((error) => byId('main').replaceChildren(el('p', { className: 'status bad' }, 'The description could not be read: ' + error.message)));
`;
