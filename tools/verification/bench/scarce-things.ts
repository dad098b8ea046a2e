import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { mappedImport } from '../../development/demo/mapped-import.ts';
import { root } from '../../development/launcher/paths.mjs';
import { exportRows, signInToTenant, timeExecution } from './exchange-jobs.ts';
import type { BenchTarget } from './platform.ts';
import { tokenOf } from './token.ts';

export type Target = Pick<BenchTarget, 'url'>;

/** What is done again and again. A number that it returns is its time in milliseconds, where it knows that better. */
type Repeated = () => Promise<unknown>;

/** Something scarce: what one tenant does to take all of it, and what another one needs of it; each in a new tenant. */
export interface Scarce {
  name: string;
  /** How often the attacker tries at the same time. */
  attackers: number;
  prepareAttack: (target: Target) => Promise<Repeated>;
  prepareRequest: (target: Target) => Promise<Repeated>;
  /** How many requests of the other tenant tell enough, where they take long. */
  measured?: number;
}

/** An attacker who is refused comes back after this; the rate limits, which are off here, allow no more. */
const AFTER_REFUSAL_MILLISECONDS = 2_000;

/**
 * Starts a process that attacks, since what it does to itself is nobody's waiting; returns when it begins. It has a session
 * of its own, because Linux shares the processors between sessions first: in that of the bench it would slow down the
 * bench itself, and with it what is measured and its control by the same time.
 */
export async function startAttacker({ url }: Target, name: string): Promise<() => void> {
  const program = join(root, 'tools/verification/bench/fairness-attacker.ts');
  const attacker = fork(program, [url, name], { execArgv: [], detached: true });
  const ended = once(attacker, 'exit').then(() => {
    throw new Error(`The attacker of ${name} ended.`);
  });
  await Promise.race([once(attacker, 'message'), ended]);
  ended.catch(() => undefined);
  return () => void attacker.kill('SIGKILL');
}

/** Attacks one scarce thing until the process is killed; calls back when it begins. */
export async function attackScarce(target: Target, name: string, onBegin: () => void): Promise<void> {
  const { prepareAttack, attackers } = scarceThings.find((one) => one.name === name)!;
  const attack = await prepareAttack(target);
  onBegin();
  const repeat = async (): Promise<never> => {
    for (;;) await attack().catch(() => pause(AFTER_REFUSAL_MILLISECONDS));
  };
  await Promise.all(Array.from({ length: attackers }, repeat));
}

type Send = (method: string, path: string, options?: SendOptions) => Promise<Response>;

interface SendOptions {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A user with all permissions, of a new tenant unless one is given. What is not a success is thrown. */
async function signIn({ url }: Target, tenantId: string = randomUUID(), sub = 'bench'): Promise<Send> {
  const authorization = `Bearer ${await tokenOf(url, { tenantId, sub, roles: ['admin'] })}`;
  return async (method, path, { body, headers = {}, signal } = {}) => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization,
        ...(body && !isForm ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
      ...(signal ? { signal } : {}),
    });
    if (!response.ok) {
      await response.arrayBuffer();
      throw new Error(`${method} ${path} responds ${response.status}.`);
    }
    return response;
  };
}

const received = async (response: Promise<Response>): Promise<void> =>
  void (await (await response).arrayBuffer());
const bodyOf = async (response: Promise<Response>) => (await (await response).json()) as { id: string };

const LONG_PAGE = `{% for i in range(400) %}{% for j in range(300) %}{{ i * j }} {% endfor %}{% endfor %}`;
const SHORT_PAGE = LONG_PAGE.replace('400', '40');
const SHEET = `<h1>One page</h1>${'<p>Some words that fill a line of the page, and some more.</p>'.repeat(25)}`;
const LARGE_SHEET = SHEET.repeat(40);
const PDF = 1;

/** Prepares to render a template: previews of what is given, unless `render` sends something else. */
const rendering =
  (content: string, request: object, operation = 'preview') =>
  async (target: Target): Promise<Repeated> => {
    const send = await signIn(target);
    await send('PUT', '/templates/page', { body: { name: 'page', content } });
    if (operation !== 'preview') await send('POST', '/templates/page/publish');
    return () => received(send('POST', `/templates/page/${operation}`, { body: request }));
  };

const streaming =
  ({ isHeld }: { isHeld: boolean }) =>
  async (target: Target): Promise<Repeated> => {
    const send = await signIn(target);
    return async () => {
      const closing = new AbortController();
      const response = await send('GET', '/notifications/stream', {
        headers: { accept: 'text/event-stream' },
        signal: closing.signal,
      });
      if (isHeld) await response.arrayBuffer();
      else closing.abort();
    };
  };

const upload = (send: Send, bytes: number): Promise<Response> => {
  const form = new FormData();
  form.append('file', new Blob(['x'.repeat(bytes)]), 'a.txt');
  return send('POST', '/blobs', { body: form });
};
const uploading = (bytes: number) => async (target: Target) => {
  const send = await signIn(target);
  return () => received(upload(send, bytes));
};
const downloading = (bytes: number) => async (target: Target) => {
  const send = await signIn(target);
  const { id } = await bodyOf(upload(send, bytes));
  return () => received(send('GET', `/blobs/${id}`));
};

const ZONES = ['Europe/Paris', 'Europe/Rome', 'Europe/Berlin', 'Europe/Vienna'];

const writing = (filler: number) => async (target: Target) => {
  const send = await signIn(target);
  let written = 0;
  return () =>
    received(
      send('PUT', '/settings/user/Service.Timing.PreferredTimezone', {
        // What is there already would change nothing.
        body: { value: ZONES[written++ % ZONES.length], filler: 'x'.repeat(filler) },
        headers: { 'idempotency-key': randomUUID() },
      }),
    );
};

const note = (send: Send, entityId: string = randomUUID(), body = 'a note'): Promise<void> =>
  received(send('POST', `/timeline/Bench/${entityId}/entries`, { body: { entryType: 0, body } }));
const noting =
  (body?: string) =>
  async (target: Target): Promise<Repeated> => {
    const send = await signIn(target);
    return () => note(send, undefined, body);
  };
const FIFTY_MENTIONS = Array.from({ length: 50 }, (_, at) => `@[Someone](user:${at})`).join(' ');

/** Prepares notes on an entity with so many followers; with `waits` each lasts until one of them was told of it. */
const notingFollowed =
  (followers: number, { waits }: { waits: boolean }) =>
  async (target: Target): Promise<Repeated> => {
    const tenantId = randomUUID();
    const send = await signIn(target, tenantId);
    const others = await Promise.all(
      Array.from({ length: followers }, (_, at) => signIn(target, tenantId, `follower-${at}`)),
    );
    for (const follower of others) await received(follower('POST', '/timeline/Bench/1/follow'));
    const unread = async (): Promise<number> =>
      ((await (await others[0]!('GET', '/notifications/unread-count')).json()) as { count: number }).count;
    return async () => {
      const before = waits ? await unread() : 0;
      await note(send, '1');
      while (waits && (await unread()) === before) await pause(20);
    };
  };

const TEXTS = 25_000;
const BATCH_TEXTS = 500;

/** A tenant with very many texts of its own in one language. */
async function manyTexts(target: Target): Promise<Send> {
  const send = await signIn(target);
  for (let first = 0; first < TEXTS; first += BATCH_TEXTS) {
    const items = Array.from({ length: BATCH_TEXTS }, (_, at) => ({
      resourceName: 'Bench',
      cultureName: 'fr',
      key: `key.${first + at}`,
      value: 'A text of about a hundred characters, as there are in letters and in what a form explains.',
    }));
    await received(send('PUT', '/localization/overrides', { body: { items } }));
  }
  return send;
}
const readTexts = (send: Send): Promise<void> => received(send('GET', '/localization?cultureName=fr'));
const readingTexts = async (target: Target): Promise<Repeated> => {
  const send = await signIn(target);
  await writeText(send);
  return () => readTexts(send);
};
const writeText = (send: Send): Promise<void> =>
  received(
    send('PUT', '/localization/overrides/Bench/fr/key.1', { body: { value: `Texte ${randomUUID()}` } }),
  );

const DEFINITIONS = 25;
/** So many states that each transition is between two of its own. */
const STATES = 16;
/** Of which a tenant may have 2 MiB. */
const definition = (transitions: number) => {
  const states = Array.from({ length: STATES }, (_, at) => `State ${at}`);
  const pairs = states.flatMap((from, at) =>
    states.slice(at + 1).flatMap((to) => [
      { from, to },
      { from: to, to: from },
    ]),
  );
  return {
    initialState: states[0],
    states,
    transitions: pairs
      .slice(0, transitions)
      .map((pair, at) => ({ name: `Finish ${at} ${'x'.repeat(60)}`, ...pair })),
  };
};
const listingDefinitions = (count: number, transitions: number) => async (target: Target) => {
  const send = await signIn(target);
  for (let at = 0; at < count; at++)
    await received(send('PUT', `/workflow/definitions/Bench${at}`, { body: definition(transitions) }));
  return () => received(send('GET', '/workflow/definitions'));
};

const LARGE_ROWS = 50_000;
const SMALL_ROWS = 100;
const DEFINITION = 'Localization.Overrides';
const fileOf = (rows: number): Blob =>
  new Blob([
    'resource,culture,key,value\r\n',
    ...Array.from({ length: rows }, (_, at) => `Bench,fr,key.${at},"Texte numéro ${at}"\r\n`),
  ]);
const dryRunning = (rows: number) => async (target: Target) => {
  const client = await signInToTenant(target);
  const jobId = await mappedImport(client, DEFINITION, fileOf(rows));
  return () => client.call('POST', `/imports/${jobId}/dry-run`, { body: {} });
};
const importing = (rows: number) => async (target: Target) => {
  const client = await signInToTenant(target);
  return async () => {
    const uploadedAt = Date.now();
    const jobId = await mappedImport(client, DEFINITION, fileOf(rows));
    const mappedIn = Date.now() - uploadedAt;
    return mappedIn + (await timeExecution(client, jobId));
  };
};
const exporting = (rows: number) => async (target: Target) => {
  const client = await signInToTenant(target);
  await timeExecution(client, await mappedImport(client, DEFINITION, fileOf(rows)));
  return () => exportRows(client, 'xlsx', rows);
};

const CONTACTS = 200_000;
const FEW_CONTACTS = 100;
/** As long as a text may be that is looked for, nearly. */
const LONG_TEXT = 'a'.padEnd(400, 'x');
const contactsFile = (rows: number): Blob =>
  new Blob([
    'External id,First name,Last name,Preferred channel,Email\r\n',
    ...Array.from({ length: rows }, (_, at) => `B-${at},Ada ${at},Lovelace,Email,ada.${at}@example.com\r\n`),
  ]);
const listingContacts = (rows: number, query: string) => async (target: Target) => {
  const client = await signInToTenant(target);
  await timeExecution(client, await mappedImport(client, 'Contacts.Contacts', contactsFile(rows)));
  return () => client.call('GET', `/contacts${query}`);
};

/** In which things are attacked, and in which they are reported. */
export const scarceThings: readonly Scarce[] = [
  { name: 'entry of a timeline', attackers: 100, prepareAttack: noting(), prepareRequest: noting() },
  {
    name: 'notification of a follower',
    attackers: 20,
    prepareAttack: notingFollowed(100, { waits: false }),
    prepareRequest: notingFollowed(1, { waits: true }),
    measured: 40,
  },
  {
    name: 'notification of a follower, beside mentions',
    attackers: 16,
    prepareAttack: noting(FIFTY_MENTIONS),
    prepareRequest: notingFollowed(1, { waits: true }),
    measured: 40,
  },
  {
    name: 'evaluation of a template',
    attackers: 50,
    prepareAttack: rendering(LONG_PAGE, {}),
    prepareRequest: rendering(SHORT_PAGE, {}),
  },
  {
    name: 'evaluation of a template, beside batches',
    attackers: 20,
    prepareAttack: rendering(LONG_PAGE, { items: Array.from({ length: 100 }, () => ({})) }, 'render-batch'),
    prepareRequest: rendering(SHORT_PAGE, {}),
  },
  {
    name: 'PDF of one page',
    attackers: 50,
    prepareAttack: rendering(LARGE_SHEET, { format: PDF }),
    prepareRequest: rendering(SHEET, { format: PDF }),
  },
  {
    name: 'opening of an event stream',
    attackers: 500,
    prepareAttack: streaming({ isHeld: true }),
    prepareRequest: streaming({ isHeld: false }),
  },
  {
    name: 'upload of 1 kB',
    attackers: 20,
    prepareAttack: uploading(5_000_000),
    prepareRequest: uploading(1_000),
  },
  {
    name: 'download of 1 kB',
    attackers: 16,
    prepareAttack: downloading(6_000_000),
    prepareRequest: downloading(1_000),
  },
  {
    name: 'request with an idempotency key',
    attackers: 30,
    prepareAttack: writing(900_000),
    prepareRequest: writing(0),
  },
  {
    name: 'texts of a language, beside lists of 25,000',
    attackers: 16,
    async prepareAttack(target) {
      const send = await manyTexts(target);
      return () => received(send('GET', '/localization/overrides?resourceName=Bench&cultureName=fr'));
    },
    prepareRequest: readingTexts,
  },
  {
    name: 'texts of a language, beside 25,000 that change',
    attackers: 8,
    async prepareAttack(target) {
      const send = await manyTexts(target);
      return async () => {
        await writeText(send);
        await readTexts(send);
      };
    },
    prepareRequest: readingTexts,
  },
  {
    name: 'list of workflow definitions',
    attackers: 16,
    prepareAttack: listingDefinitions(DEFINITIONS, 200),
    prepareRequest: listingDefinitions(1, 30),
  },
  {
    name: `list of contacts, beside searches in ${CONTACTS}`,
    attackers: 24,
    prepareAttack: listingContacts(CONTACTS, `?search=${LONG_TEXT}`),
    prepareRequest: listingContacts(FEW_CONTACTS, ''),
  },
  {
    name: `dry-run of ${SMALL_ROWS} rows`,
    attackers: 12,
    prepareAttack: dryRunning(LARGE_ROWS),
    prepareRequest: dryRunning(SMALL_ROWS),
    measured: 40,
  },
  {
    name: `import of ${SMALL_ROWS} rows`,
    attackers: 8,
    prepareAttack: importing(LARGE_ROWS),
    prepareRequest: importing(SMALL_ROWS),
    measured: 40,
  },
  {
    name: `export of ${SMALL_ROWS} rows`,
    attackers: 8,
    prepareAttack: exporting(LARGE_ROWS),
    prepareRequest: exporting(SMALL_ROWS),
    measured: 40,
  },
];
