import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { eventually } from '@plinth/testing/eventually';
import { Client as Database } from 'pg';
import { signIn } from '../../development/demo/client';
import { startAttacker } from '../bench/scarce-things.ts';
import { median, p99, timeOf } from '../bench/times.ts';
import { tokenOf } from '../bench/token';
import { ENTITY, notifiedOf, writeEntries } from './entries';
import { pods } from './limited-platform';
import { watchPodMemory } from './pod-memory.ts';
import { startSecond, type SecondReplica } from './replace-process';
import { startReplicatedPlatform, type ReplicatedPlatform } from './replicated-platform';

/** `npm run faults -- replicas`; the suite has two replicas in its rolling restarts, without a flood. */
const isLarge = process.env['FAULTS_SECONDS'] !== undefined;
const SECONDS = Number(process.env['FAULTS_SECONDS'] ?? 1);
const DOUBLED = ['gateway', 'timeline', 'settings', 'data-exchange', 'template'];
const ATTACKS = [
  'notification of a follower, beside mentions',
  'opening of an event stream',
  'request with an idempotency key',
  'upload of 1 kB',
];
const STREAMS = 6;
const LOOK_MILLISECONDS = 1_000;
/** Who waits longer has given up. */
const MILLISECONDS_MAX = 30_000;
const CLEARED_MILLISECONDS_MAX = 180_000;
const PLACES_TAKEN = /^plinth_places_taken\{places="([^"]+)".*\} (\d+)$/gm;

(isLarge ? describe : describe.skip)('two replicas under the flood of one tenant', () => {
  let folder: string;
  let platform: ReplicatedPlatform;
  let seconds: (SecondReplica & { name: string })[] = [];
  const closing: (() => void)[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-replicas-'));
    // For root the database server runs as another user, who needs access.
    chmodSync(folder, 0o755);
    platform = await startReplicatedPlatform(folder);
    const doubled = platform.processes.filter(({ name }) => DOUBLED.includes(name));
    seconds = await Promise.all(
      doubled.map(async (subject) => ({ name: subject.name, ...(await startSecond(platform, subject)) })),
    );
  });

  afterAll(async () => {
    closing.forEach((close) => close());
    await Promise.all(seconds.map(({ end }) => end()));
    await platform.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const query = async (text: string, values: unknown[]): Promise<Record<string, number>[]> => {
    const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
    const database = new Database({
      host: '127.0.0.1',
      port: read('ports.json').postgres,
      user: 'postgres',
      password: read('secrets.json').postgresPassword,
      database: 'plinth_timeline',
    });
    await database.connect();
    return (await database.query(text, values).finally(() => database.end())).rows;
  };

  /** What a person's stream says, one for each notification from here on: its response begins when its position is known. */
  const openStream = async (token: string) => {
    const notified: string[] = [];
    const stop = new AbortController();
    const response = await fetch(`${platform.url}/api/v1/notifications/stream`, {
      headers: { authorization: `Bearer ${token}` },
      signal: stop.signal,
    });
    expect(response.status).toBe(200);
    const reading = (async () => {
      const decoder = new TextDecoder();
      let text = '';
      for await (const piece of response.body!) {
        text += decoder.decode(piece, { stream: true });
        for (const [, id] of text.matchAll(/"entryId":"([^"]+)"/g)) notified.push(id!);
        text = text.slice(text.lastIndexOf('\n') + 1);
      }
    })();
    let failure: Error | undefined;
    reading.catch((error: Error) => (failure = error));
    closing.push(() => stop.abort());
    return {
      notified,
      requireOpen: () => {
        if (failure) throw failure;
      },
    };
  };

  const placesTaken = async (): Promise<string[]> => {
    const adminPorts = [
      ...platform.processes.map(({ name, adminPort }) => ({ name, adminPort })),
      ...seconds.map(({ name, adminPort }) => ({ name: `second ${name}`, adminPort })),
    ];
    const taken = await Promise.all(
      adminPorts.map(async ({ name, adminPort }) => {
        const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
        return [...text.matchAll(PLACES_TAKEN)]
          .filter(([, places, count]) => Number(count) > (places === 'platform-connections' ? 1 : 0))
          .map(([, places, count]) => `${name}: ${places} ${count}`);
      }),
    );
    return taken.flat();
  };

  it(
    'do everything of another tenant once, soon, and in the memory of their pods',
    async () => {
      const tenantId = randomUUID();
      const person = (sub: string) => signIn(platform.url, { sub, name: sub, tenantId });
      const [ann, bob] = [await person('ann'), await person('bob')];
      await bob.call('POST', `${ENTITY}/follow`);
      const ofBob = await tokenOf(platform.url, { tenantId, sub: 'bob', name: 'bob', roles: ['admin'] });
      const streams = await Promise.all(Array.from({ length: STREAMS }, () => openStream(ofBob)));

      const written: string[] = [];
      /** One entry by two requests with one key at the same time, on connections of their own to either gateway. */
      const writeTwice = async (): Promise<void> => {
        const key = randomUUID();
        const once = () =>
          ann.call('POST', `${ENTITY}/entries`, {
            body: { entryType: 0, body: 'entry' },
            headers: { 'idempotency-key': key, connection: 'close' },
            expect: [201, 409],
          });
        const ids = (await Promise.all([once(), once()])).filter(({ status }) => status === 201);
        expect(new Set(ids.map(({ body }) => body.id)).size).toBe(1);
        written.push(ids[0]!.body.id);
      };
      const timesFor = async (milliseconds: number): Promise<number[]> => {
        const times: number[] = [];
        const end = performance.now() + milliseconds;
        while (times.length < 3 || performance.now() < end) times.push(await timeOf(writeTwice));
        return times;
      };

      const alone = await timesFor(SECONDS * 300);
      const pids = [
        ...DOUBLED.map((name) => ({ name, pid: platform.pidOf(name)! })),
        ...seconds.map(({ name, pid }) => ({ name, pid })),
      ];
      const watched = pids.map(({ name, pid }) => ({ name, most: watchPodMemory(pid, LOOK_MILLISECONDS) }));
      const attackers = await Promise.all(ATTACKS.map((name) => startAttacker(platform, name)));
      const flooding = await signIn(platform.url, { sub: 'eve', name: 'eve', tenantId: randomUUID() });
      const stopWriting = writeEntries(flooding);
      // What its own process is late, the campaign measures as well.
      const ownDelay = monitorEventLoopDelay();
      ownDelay.enable();
      const beside = await timesFor(SECONDS * 1_000);
      ownDelay.disable();
      attackers.forEach((stop) => stop());
      const ofFlood = await stopWriting();
      const cleared = await timeOf(() =>
        eventually(async () => {
          streams.forEach(({ requireOpen }) => requireOpen());
          return streams.every(({ notified }) => new Set(notified).size >= written.length);
        }, CLEARED_MILLISECONDS_MAX),
      );
      await eventually(async () => {
        const left = await placesTaken();
        if (left.length > 0) throw new Error(left.join(', '));
        return true;
      }, CLEARED_MILLISECONDS_MAX);
      const used = watched.map(({ name, most }) => ({ name, mebibytes: most() }));
      await eventually(async () => (await notifiedOf(bob)).length >= written.length, MILLISECONDS_MAX);
      const row = (times: number[]): string =>
        `${times.length}, p50 ${median(times).toFixed(0)} ms, p99 ${p99(times).toFixed(0)} ms`;
      process.stdout.write(
        `entries by two requests: alone ${row(alone)}; beside the flood ${row(beside)}; notified after ` +
          `${(cleared / 1_000).toFixed(1)} s; ${ofFlood.length} entries of the flood; event loop of the campaign ` +
          `p99 ${(ownDelay.percentile(99) / 1e6).toFixed(0)} ms\n` +
          `MiB: ${used.map(({ name, mebibytes }) => `${name} ${mebibytes}`).join(', ')}\n`,
      );

      expect((await ann.call('GET', ENTITY)).body.totalCount).toBe(written.length);
      expect((await notifiedOf(bob)).toSorted()).toEqual(written.toSorted());
      for (const { notified } of streams) expect(notified.toSorted()).toEqual(written.toSorted());
      expect((await flooding.call('GET', ENTITY)).body.totalCount).toBe(ofFlood.length);
      expect(Math.max(...beside)).toBeLessThan(MILLISECONDS_MAX);
      const limits = used.map(({ name }) => pods?.get(name)?.mebibytesMax ?? Infinity);
      expect(used.filter(({ mebibytes }, index) => mebibytes > limits[index]!)).toEqual([]);
      const [counts] = await query(
        `SELECT (SELECT count(*)::int FROM dead_letter WHERE tenant_id = $1::uuid) AS dead,
           (SELECT count(*)::int FROM waiting_event WHERE tenant_id = $1::uuid) AS waiting`,
        [tenantId],
      );
      expect(counts).toEqual({ dead: 0, waiting: 0 });
    },
    300_000 + SECONDS * 20_000 + 2 * CLEARED_MILLISECONDS_MAX,
  );
});
