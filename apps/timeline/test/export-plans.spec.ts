import { newId } from '@plinth/kernel/uuid';
import { openExchangeOwner } from '@plinth/testing/exchange-owner';
import { excessiveOf, readsUnderAllPlans } from '@plinth/testing/statement-plans';
import type { Client } from 'pg';
import { grpcServices } from '../src/grpc/server';
import { fillTimeline } from './fill-timeline';
import { aStaffMember, aUser, startTimeline, type Timeline } from './start-timeline';

const ENTRIES = 20_000;
const ENTRIES_OF_SMALL_TENANT = 10;

describe('the export of a small tenant', () => {
  let timeline: Timeline;
  beforeAll(async () => {
    timeline = await startTimeline();
  });
  afterAll(() => timeline.close());

  it('reads no more entries than that tenant has, whatever the statistics know of a large one', async () => {
    const [large, small] = [newId(), newId()];
    const fill = async (admin: Client, tenantId: string, count: number) => {
      await fillTimeline(admin, tenantId, count, 0);
      if (tenantId === large) await fillTimeline(admin, small, ENTRIES_OF_SMALL_TENANT, 0);
    };
    const database = { url: timeline.databaseUrl, adminUrl: timeline.database!.adminUrl };

    const reads = await readsUnderAllPlans(
      { ...database, fill },
      { id: large, rowCount: ENTRIES },
      async (bulkPool) => {
        const owner = await openExchangeOwner(grpcServices({ ...timeline, bulkPool }));
        const fields = ['entityId', 'body', 'createdAt', 'attachmentBlobIds'];
        for (const caller of [aUser(small, 'Ann'), aStaffMember(small, 'Sam')]) {
          const rows = await owner.exportRows(caller, { definition: 'Timeline.Entries', fields });
          expect(rows).toHaveLength(2 * ENTRIES_OF_SMALL_TENANT);
        }
        await owner.close();
      },
    );

    expect(excessiveOf(reads, ENTRIES_OF_SMALL_TENANT)).toEqual([]);
  });
});
