import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contactsNoted } from '@plinth/contracts/contacts/events';
import { settingChanged } from '@plinth/contracts/settings/events';
import { DocumentFormat } from '@plinth/contracts/template/shapes';
import { BODY_LENGTH_MAX } from '@plinth/contracts/timeline/shapes';
import { transitionExecuted } from '@plinth/contracts/workflow/events';
import type { Caller } from '@plinth/kernel/caller';
import type { EventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { protoPackages } from '@plinth/proto/packages';
import { signMessage } from '@plinth/runtime/messaging/signed-message';
import { consumerNameOf, subjectOf } from '@plinth/runtime/messaging/nats';
import { serviceClient, type ClientConstructor } from '@plinth/runtime/rpc/grpc';
import type { Client } from '@grpc/grpc-js';
import { eventually } from '@plinth/testing/eventually';
import type { SharedPlatform } from '@plinth/testing/shared-platform';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { tokenOf } from '../bench/token.ts';
import { limitedPlatform, pods } from './limited-platform';
import { watchPodMemory } from './pod-memory.ts';

/** How many send at the same time; `npm run faults -- memory` sends more. */
const ATTACKERS = Number(process.env['FAULTS_ATTACKERS'] ?? 4);
/** Each of these events makes thousands of rows, one event after the other: more of them last longer and prove no more. */
const LONG_EVENTS_MAX = 16;
/** A bound for what hangs. */
const MILLISECONDS_MAX = 300_000 + ATTACKERS * 10_000;
jest.setTimeout(MILLISECONDS_MAX);
/** Of a setting. */
const VALUE_LENGTH_MAX = 65_536;
/** What data exchange sends in one message. */
const BATCH_ROWS = 4_000;
/** What gRPC and NATS let through, less what is around it. */
const MESSAGE_BYTES = 4 * 1024 * 1024 - 1024;
/** By the renderer; the documents of all others wait in the service. */
const PRINTED_AT_ONCE = 3;
/** What one template may make, less what is around it. */
const DOCUMENT_LENGTH_MAX = 9_500_000;
const EVENT_BYTES = 1024 * 1024 - 8 * 1024;

const textOf = (bytes: number): string => 'x'.repeat(bytes);
const listOf = <One>(bytes: number, one: One): One[] =>
  Array.from({ length: Math.floor(bytes / (JSON.stringify(one).length + 2)) }, () => one);

const closers: (() => unknown)[] = [];
let platform: SharedPlatform;
let ports: Record<string, number>;
let secrets: Record<string, string>;
const tenantId = newId();
const caller: Caller = { tenantId, userId: 'ada', userName: 'Ada', permissions: ['*'] };

beforeAll(async () => {
  platform = await limitedPlatform();
  const read = (name: string) => JSON.parse(readFileSync(join(platform.dataDirectory, name), 'utf8'));
  [ports, secrets] = [read('ports.json'), read('secrets.json')];
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Runs an attack; the processes of a service live on, in the memory of their pods. */
async function attack(service: string, send: () => Promise<unknown>): Promise<void> {
  const processes = () => Object.entries(platform.processIds()).filter(([name]) => name.startsWith(service));
  const before = processes();
  const watched = before.map(([name, pid]) => ({ name, most: watchPodMemory(pid!) }));
  await send();
  const used = watched.map(({ name, most }) => ({
    name,
    mebibytes: most(),
    pod: pods?.get(name)?.mebibytesMax,
  }));
  if (process.env['FAULTS_ATTACKERS'])
    for (const { name, mebibytes, pod } of used)
      process.stdout.write(`${expect.getState().currentTestName}\n  ${name} ${mebibytes} of ${pod} MiB\n`);
  expect(used.filter(({ mebibytes, pod }) => mebibytes > pod!)).toEqual([]);
  expect(processes()).toEqual(before);
}

const keysOf = (name: string) => secrets[name]!.split(',');
function clientOf<C extends Client>(service: string, Constructor: ClientConstructor<C>, keys = 'callerKeys') {
  const address = `127.0.0.1:${ports[`${service}-grpc`]}`;
  const client = serviceClient(service, Constructor, address, keysOf(keys));
  closers.push(client.close);
  return client;
}
/** What is refused is as good as what is answered: both must cost little. */
const sideBySide = (send: () => Promise<unknown>) =>
  Promise.all(Array.from({ length: ATTACKERS }, () => send().catch((error: Error) => error)));
const envelope = (type: EventType) => ({
  id: newId(),
  name: type.name,
  tenantId,
  subject: newId(),
  sequence: 1,
  occurredAt: new Date().toISOString(),
  actorId: 'ada',
  actorName: 'Ada',
});

const { settings, localization, exchange, workflow, pdf } = protoPackages;
const unary: [
  service: string,
  method: string,
  Constructor: unknown,
  request: () => object,
  as: Caller | null,
][] = [
  [
    'settings',
    'Resolve',
    settings.v1.Settings,
    () => ({ tenantId, names: listOf(MESSAGE_BYTES, 'Service.Timing.PreferredTimezone') }),
    null,
  ],
  [
    'settings',
    'RegisterDefinitions',
    settings.v1.Settings,
    () => ({ service: 'memory', definitions: [{ name: 'Memory.Test', description: textOf(MESSAGE_BYTES) }] }),
    null,
  ],
  ['settings', 'Find', settings.v1.ApiKeys, () => ({ hash: textOf(MESSAGE_BYTES) }), null],
  [
    'localization',
    'ResolveTexts',
    localization.v1.Localization,
    () => ({
      tenantId,
      cultureName: 'fr',
      resources: listOf(MESSAGE_BYTES / 2, { resourceName: 'Platform', keys: [] }),
    }),
    null,
  ],
  [
    'template',
    'Describe',
    workflow.v1.EntityOwner,
    () => ({ entityType: 'Template', entityId: textOf(MESSAGE_BYTES) }),
    caller,
  ],
  [
    'template',
    'Apply',
    workflow.v1.EntityOwner,
    () => ({
      entityType: 'Template',
      entityId: 'a',
      from: 'Draft',
      to: 'Published',
      moveId: newId(),
      comment: textOf(MESSAGE_BYTES),
    }),
    caller,
  ],
  ['timeline', 'ListDefinitions', exchange.v1.ExchangeOwner, () => ({}), null],
  ['contacts', 'SealImport', exchange.v1.ExchangeOwner, () => ({ jobId: textOf(MESSAGE_BYTES) }), caller],
];

describe('the memory of the services', () => {
  it.each(unary)(
    '%s holds against the largest messages of %s',
    async (service, method, Constructor, request, as) => {
      const client = clientOf(service, Constructor as typeof settings.v1.Settings);
      const call = () => client.call(method as 'Resolve', request() as never, as);
      await attack(service, () => sideBySide(call));
    },
  );

  it('holds against the largest batches of an import, and the widest export', async () => {
    const owner = clientOf('localization', exchange.v1.ExchangeOwner);
    const { client, identity } = owner;
    const columns = ['resourceName', 'cultureName', 'key', 'value'];
    const definition = 'Localization.Overrides';
    const value = textOf(MESSAGE_BYTES / BATCH_ROWS - 100);
    const rows = Array.from({ length: BATCH_ROWS }, (_, at) => [at + 2, 'Shop', 'fr', `k${at}`, value]);
    const importRows = async () => {
      const call = client.Import(identity('Import', caller));
      call.write({ start: { definition, columns, jobId: newId(), mode: 'UPSERT', commit: 'NEVER' } });
      for (let number = 1; number <= 3; number++)
        call.write({ batch: { number, rows: Buffer.from(JSON.stringify(rows)) } });
      call.write({ end: {} });
      for await (const _answer of call);
    };
    const exportRows = async () => {
      const fields = listOf(MESSAGE_BYTES, 'key');
      const call = client.Export({ definition, fields, selection: '{}' }, identity('Export', caller));
      for await (const _rows of call);
    };
    await attack('localization', () => Promise.all([sideBySide(importRows), sideBySide(exportRows)]));
  });

  it('holds against the largest messages of UndoImport, and many who watch revocations', async () => {
    const owner = clientOf('contacts', exchange.v1.ExchangeOwner);
    const keys = clientOf('settings', settings.v1.ApiKeys);
    const undo = async () => {
      const request = { definition: 'Contacts.Contacts', jobId: textOf(MESSAGE_BYTES) };
      for await (const _write of owner.client.UndoImport(request, owner.identity('UndoImport', caller)));
    };
    const watch = async () => {
      const call = keys.client.WatchRevocations({}, keys.identity('WatchRevocations', null));
      call.on('error', () => undefined);
      await once(call, 'data');
      call.cancel();
    };
    await attack('contacts', () => sideBySide(undo));
    await attack('settings', () => sideBySide(watch));
  });

  it('holds against the longest pages of the largest entries', async () => {
    const authorization = `Bearer ${await tokenOf(platform.url, { tenantId, roles: ['admin'] })}`;
    const call = async (path: string, init: RequestInit = {}) => {
      const headers = { authorization, 'content-type': 'application/json' };
      const response = await fetch(`${platform.url}/api/v1/timeline/Memory/1${path}`, { ...init, headers });
      await response.arrayBuffer();
      return response.status;
    };
    const body = JSON.stringify({ entryType: 0, body: '😀'.repeat(BODY_LENGTH_MAX / 2) });
    for (let count = 0; count < 100; count++)
      expect(await call('/entries', { method: 'POST', body })).toBe(201);
    const readPages = () => Promise.all(Array.from({ length: 5 }, () => call('?pageSize=100')));
    await attack('timeline', () => sideBySide(readPages));
  });

  it('holds against the longest pages of the largest changes of a setting, and the largest values of many users', async () => {
    const scopes = ['user', 'tenant'];
    const layout = { name: 'Memory.Layout', scopes, isVisibleToUsers: true, schema: '{"type":"string"}' };
    const { call } = clientOf('settings', settings.v1.Settings);
    await call('RegisterDefinitions', { service: 'memory', definitions: [layout] }, null);
    const request = async (path: string, init: RequestInit = {}, userId = 'ada') => {
      const token = await tokenOf(platform.url, { tenantId, roles: ['admin'], sub: userId });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(`${platform.url}/api/v1/settings/${path}`, { ...init, headers });
      await response.arrayBuffer();
      return response.status;
    };
    const value = '😀'.repeat(VALUE_LENGTH_MAX / 2 - 1);
    const put = (scope: string, number: number) =>
      request(`${scope}/${layout.name}`, {
        method: 'PUT',
        body: JSON.stringify({ value: `${value}${number % 2}` }),
      });
    for (let count = 0; count < 100; count++) expect(await put('user', count)).toBe(204);
    expect(await put('tenant', 0)).toBe(204);
    const readPages = () =>
      Promise.all(Array.from({ length: 5 }, () => request(`user/${layout.name}/history?pageSize=100`)));
    const readAsMany = async () => {
      for (let user = 0; user < 20; user++) await request(`user/${layout.name}`, {}, newId());
    };
    await attack('settings', () => Promise.all([sideBySide(readPages), sideBySide(readAsMany)]));
  });

  const repeated = (text: string, length: number) =>
    `{% for _ in range(${Math.floor(length / text.length)}) %}${text}{% endfor %}`;
  const words = repeated('word '.repeat(200), DOCUMENT_LENGTH_MAX);
  // A character that is not Latin-1 makes all of them take two bytes each; a quote is six characters once it is escaped.
  const quotes = (length: number) => `Ā${repeated('"'.repeat(1_000), length)}`;
  it.each([
    ['to be printed', DocumentFormat.Pdf, 20, 'text/html', words],
    ['to be sent', DocumentFormat.Html, 1, 'text/html', words],
    [
      'to be printed: plain text of quotes',
      DocumentFormat.Pdf,
      5,
      'text/plain',
      quotes(DOCUMENT_LENGTH_MAX / 6),
    ],
    ['to be printed: too many quotes', DocumentFormat.Pdf, 20, 'text/plain', quotes(DOCUMENT_LENGTH_MAX / 2)],
  ])('holds against the largest documents, of which most wait %s', async (...row) => {
    const [, format, ofEach, mimeType, content] = row;
    const authorization = `Bearer ${await tokenOf(platform.url, { tenantId, roles: ['admin'] })}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const body = JSON.stringify({ content, format, mimeType });
    const leaving = new AbortController();
    let waiting = ofEach * ATTACKERS;
    const render = async () => {
      const address = `${platform.url}/api/v1/templates/memory/preview`;
      const response = await fetch(address, { method: 'POST', headers, body, signal: leaving.signal });
      await response.arrayBuffer();
      waiting--;
      // The last ones print, each until its time is over, for a service that holds nothing else any more.
      if (format === DocumentFormat.Pdf && waiting <= PRINTED_AT_ONCE) leaving.abort();
    };
    await attack('template', () => Promise.all(Array.from({ length: ofEach }, () => sideBySide(render))));
  });

  it('holds against the largest pages of documents', async () => {
    const { client, identity } = clientOf('pdf-renderer', pdf.v1.PdfRenderer, 'pdfRendererKeys');
    const print = async () => {
      const call = client.Print(identity('Print', caller), { deadline: Date.now() + 20_000 });
      call.on('error', () => undefined);
      const band = textOf(MESSAGE_BYTES / 2 - 100);
      call.write({ page: { header: band, footer: band } });
      for await (const { begun } of call) {
        if (begun) call.write({ html: Buffer.from('<p>Hello</p>') });
        call.end();
      }
    };
    await attack('pdf-renderer', () => sideBySide(print));
  });

  it.each<[service: string, type: EventType, payload: object, count: number]>([
    [
      'timeline',
      transitionExecuted,
      {
        entityType: 'Invoice',
        entityId: '1',
        transitionName: 'Submit',
        previousState: 'Draft',
        newState: 'Submitted',
        comment: textOf(EVENT_BYTES),
        transitionedAt: new Date().toISOString(),
        transitionedBy: 'ada',
        position: 1,
      },
      2 * ATTACKERS,
    ],
    [
      'timeline',
      settingChanged,
      {
        scope: 'tenant',
        userId: null,
        names: Array.from({ length: 5_000 }, (_, at) => `${at}`.padStart(190, 'x')),
      },
      Math.min(2 * ATTACKERS, LONG_EVENTS_MAX),
    ],
    [
      'timeline',
      contactsNoted,
      {
        entityType: 'Contact',
        entityIds: Array.from({ length: 5_000 }, (_, at) => `${at}`.padStart(190, 'x')),
        texts: { en: textOf(500), fr: textOf(500) },
      },
      Math.min(2 * ATTACKERS, LONG_EVENTS_MAX),
    ],
  ])('%s holds against the largest events %p', async (service, type, payload, count) => {
    const nats = await connect({ servers: `nats://127.0.0.1:${ports['nats']}` });
    closers.push(() => nats.close());
    await attack(service, async () => {
      const sent = Array.from({ length: count }, async () => {
        const subject = subjectOf('plinth', type.name);
        const event = { ...envelope(type), payload };
        const body = JSON.stringify(event);
        await jetstream(nats).publish(subject, body, {
          headers: signMessage(subject, body, keysOf('eventKeys')),
          timeout: MILLISECONDS_MAX,
        });
      });
      await Promise.all(sent);
      const consumer = await jetstream(nats).consumers.get('plinth', consumerNameOf(service, type.name));
      await eventually(async () => {
        const { num_pending, num_ack_pending } = await consumer.info();
        return num_pending + num_ack_pending === 0;
      }, MILLISECONDS_MAX);
    });
  });
});
