import { aCaller } from '@plinth/testing/http';
import { newId } from '@plinth/kernel/uuid';
import { publishExportFinished } from '../src/events/published';
import { startDataExchange, upload, type DataExchange } from './start-data-exchange';

let exchange: DataExchange;
beforeAll(async () => {
  exchange = await startDataExchange({ worker: false });
});
afterAll(() => exchange.close());

const publishedEvents = async (tenantId: string) =>
  exchange.db.inTenant(tenantId, (tx) =>
    tx.$queryRawUnsafe('SELECT name, subject, payload, actor_id AS "actorId" FROM outbox'),
  );

describe('the events of data exchange', () => {
  it('are published once at the end of a job, with its caller as actor', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const { body: job } = await upload(exchange, caller, 'sku,name\n1,one\n');
    expect(await publishedEvents(caller.tenantId)).toEqual([]);
    expect((await http.delete(`/imports/${job.id}`)).status).toBe(204);
    expect((await http.delete(`/imports/${job.id}`)).status).toBe(409);
    expect(await publishedEvents(caller.tenantId)).toEqual([
      {
        name: 'data-exchange.import-finished',
        subject: `ImportJob/${job.id}`,
        actorId: caller.userId,
        payload: {
          jobId: job.id,
          definitionName: job.definitionName,
          status: 'Cancelled',
          totalRows: 0,
          succeededRows: 0,
          failedRows: 0,
        },
      },
    ]);
  });

  it('of exports have no number of rows, which not everybody who hears of them may see', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    const job = { tenantId, id: newId(), definitionName: 'Contacts.Contacts', status: 'Completed', caller };
    const counted = { ...job, createdBy: caller.userId, widerPermission: null, rowCount: 4_711 };
    await exchange.db.inTenant(tenantId, (tx) => publishExportFinished(tx, counted));
    expect(await publishedEvents(tenantId)).toMatchObject([{ payload: { jobId: job.id, rowCount: null } }]);
  });
});
