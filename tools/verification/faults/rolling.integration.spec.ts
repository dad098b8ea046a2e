import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@plinth/testing/eventually';
import { signIn } from '../../development/demo/client';
import { tokenOf } from '../bench/token';
import { ENTITY, requireNotifiedOnce, writeEntries } from './entries';
import { startLoad } from './load';
import { replaceProcess } from './replace-process';
import {
  startReplicatedPlatform,
  type ReplaceableProcess,
  type ReplicatedPlatform,
} from './replicated-platform';

/** `npm run faults -- rolling` replaces every process. */
const ONLY = process.env['FAULTS_ONLY'] ?? 'gateway,settings';
const ROUNDS = Number(process.env['FAULTS_ROUNDS'] ?? 1);
const REQUESTS_PER_SECOND = Number(process.env['FAULTS_RATE'] ?? 20);
const FAILURES_SHOWN_MAX = 10;
const REPLACEMENT_MILLISECONDS_MAX = 180_000;

let platform: ReplicatedPlatform;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-rolling-'));
  // For root the database server runs as another user, who needs access.
  chmodSync(folder, 0o755);
  platform = await startReplicatedPlatform(folder);
});

afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function replaceAll(processes: readonly ReplaceableProcess[]): Promise<void> {
  for (let round = 0; round < ROUNDS; round++)
    for (const subject of processes) await replaceProcess(platform, subject);
}

describe('a rolling restart that replaces one process after the other', () => {
  it(
    'fails no request, and does everything once, though two of each run at a time',
    async () => {
      const chosen = platform.processes.filter(
        ({ name }) => ONLY === 'all' || ONLY.split(',').includes(name),
      );
      expect(chosen).not.toEqual([]);
      const tenantId = randomUUID();
      const person = (sub: string) => signIn(platform.url, { sub, name: sub, tenantId });
      const [ann, bob] = [await person('ann'), await person('bob')];
      await bob.call('POST', `${ENTITY}/follow`);
      const stopWriting = writeEntries(ann);
      const token = await tokenOf(platform.url, { roles: ['admin'] });
      const load = startLoad(platform.url, token, REQUESTS_PER_SECOND);
      const replaced = replaceAll(chosen);
      const { requests, failures } = await replaced.then(load.stop, load.stop);
      const written = await stopWriting();
      await replaced;

      expect({ count: failures.length, some: failures.slice(0, FAILURES_SHOWN_MAX) }).toEqual({
        count: 0,
        some: [],
      });
      expect((await ann.call('GET', ENTITY)).body.totalCount).toBe(written.length);
      await eventually(() => requireNotifiedOnce(bob, written));
      expect(requests).toBeGreaterThan(chosen.length * REQUESTS_PER_SECOND);
      if (process.env['FAULTS_ONLY'] !== undefined)
        console.log(
          `${ROUNDS} x ${chosen.map(({ name }) => name).join(', ')}: 0 of ${requests} requests failed.`,
        );
    },
    ROUNDS * 20 * REPLACEMENT_MILLISECONDS_MAX,
  );
});
