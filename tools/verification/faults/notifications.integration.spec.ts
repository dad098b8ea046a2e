import { randomUUID } from 'node:crypto';
import { eventually } from '@plinth/testing/eventually';
import { signIn } from '../../development/demo/client';
import { startCampaign } from './campaign';
import { COMPLETION_MILLISECONDS_MAX } from './chaos-platform';
import { ENTITY, notifiedOf } from './entries';

/** `npm run faults -- notifications` runs it with 2,000 entries. */
const { FAULTS_ENTRIES } = process.env;
const ENTRIES = Number(FAULTS_ENTRIES ?? 60);
const KILL_EVERY = 15;

const campaign = startCampaign({ isLarge: FAULTS_ENTRIES !== undefined });

describe('a timeline whose service is killed repeatedly', () => {
  it(
    'stores each entry once and notifies followers of each once',
    async () => {
      const tenantId = randomUUID();
      const person = (sub: string) => signIn(campaign.platform.url, { sub, name: sub, tenantId });
      const [ann, bob] = [await person('ann'), await person('bob')];
      await bob.call('POST', `${ENTITY}/follow`);

      const written: string[] = [];
      for (let index = 0; index < ENTRIES; index++) {
        if (index % KILL_EVERY === 7) campaign.platform.kill('timeline');
        const entry = { entryType: 0, body: `entry ${index}` };
        const key = { 'idempotency-key': randomUUID() };
        const { body } = await ann.call('POST', `${ENTITY}/entries`, { body: entry, headers: key });
        written.push(body.id);
      }

      const unread = async () => (await bob.call('GET', '/notifications/unread-count')).body.count;
      await eventually(async () => (await unread()) >= ENTRIES, COMPLETION_MILLISECONDS_MAX);
      expect((await notifiedOf(bob)).toSorted()).toEqual(written.toSorted());
      expect((await bob.call('GET', ENTITY)).body.totalCount).toBe(ENTRIES);
      expect(await unread()).toBe(ENTRIES);
      campaign.pass();
    },
    60_000 + ENTRIES * 2_000 + COMPLETION_MILLISECONDS_MAX,
  );
});
