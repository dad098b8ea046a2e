import { contactsNoted } from '@plinth/contracts/contacts/events';
import { newIds } from '@plinth/kernel/new-ids';
import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { aUser, publishForeignEvent, startTimeline, type Timeline } from './start-timeline';

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
    let refused = await post();
    for (let count = 11; refused.status === 201 && count <= 21; count++) refused = await post();

    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'timeline-entries', scope: 'tenant', limit: 20 } },
    });
    expect((await post(other)).status).toBe(201);
  });

  it('counts what people write, and not what the system notes', async () => {
    const ann = aUser(newId(), 'Ann');
    // Ids of their own, and ids that were made together and share their lines.
    const noted = [...Array.from({ length: 30 }, () => newId()), ...newIds(300)];
    await publishForeignEvent(timeline.natsPrefix, {
      type: contactsNoted,
      tenantId: ann.tenantId,
      payload: { entityType: 'Contact', entityIds: noted, texts: { en: 'Imported.', fr: 'Importé.' } },
    });
    const http = timeline.as(ann);
    await eventually(async () => (await http.get(`/timeline/Contact/${noted.at(-1)}`)).body.totalCount === 1);
    const statuses: number[] = [];
    // The first one has them counted.
    for (let count = 0; count < 8; count++) {
      const path = `/timeline/Contact/${noted[0]}/entries`;
      statuses.push((await http.post(path, { entryType: 0, body: 'Hello' })).status);
    }
    expect(statuses).toEqual(Array(8).fill(201));
  });
});
