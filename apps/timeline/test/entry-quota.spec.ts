import { newId } from '@plinth/kernel/uuid';
import { aUser, startTimeline, type Timeline } from './start-timeline';

describe('the quota of timeline entries', () => {
  let timeline: Timeline;
  beforeAll(async () => {
    timeline = await startTimeline({ environment: { TIMELINE_TENANT_ENTRIES_MAX: '20' } });
  });
  afterAll(() => timeline.close());

  // What is written while rows are counted may count twice, and the first one not at all.
  it('refuses what is beyond it, and says which it is', async () => {
    const [ann, other] = [aUser(newId(), 'Ann'), aUser(newId(), 'Bob')];
    const post = (caller = ann) =>
      timeline.as(caller).post(`/timeline/Invoice/${newId()}/entries`, { entryType: 0, body: 'Hello' });
    for (let count = 0; count < 10; count++) expect((await post()).status).toBe(201);
    for (let count = 0; count < 11; count++) await post();
    const refused = await post();

    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'timeline-entries', scope: 'tenant', limit: 20 } },
    });
    expect((await post(other)).status).toBe(201);
  });
});
