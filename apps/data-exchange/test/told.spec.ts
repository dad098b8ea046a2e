import { aCaller } from '@plinth/testing/http';
import { startDataExchange, upload, type DataExchange } from './start-data-exchange';

let exchange: DataExchange;
beforeAll(async () => {
  exchange = await startDataExchange({ worker: false });
});
afterAll(() => exchange.close());

const told = async (tenantId: string) =>
  exchange.db.inTenant(tenantId, (tx) =>
    tx.$queryRawUnsafe('SELECT name, subject, payload, actor_id AS "actorId" FROM outbox'),
  );

describe('the end of a job', () => {
  it('is told to the other areas once, with who asked for it', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const { body: job } = await upload(exchange, caller, 'sku,name\n1,one\n');
    expect(await told(caller.tenantId)).toEqual([]);
    expect((await http.delete(`/imports/${job.id}`)).status).toBe(204);
    expect((await http.delete(`/imports/${job.id}`)).status).toBe(409);
    expect(await told(caller.tenantId)).toEqual([
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
});
