import { aCaller } from '@plinth/testing/http';
import {
  importFile,
  mappedImport,
  reportOf,
  startDataExchange,
  type DataExchange,
} from './start-data-exchange';

describe('data exchange while Temporal is unavailable', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange({ worker: false, environment: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
  });
  afterAll(() => exchange.close());

  it('accepts no job, and serves everything that needs no worker', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const jobId = await mappedImport(exchange, caller, 'code,title\nA,a\n');

    expect((await http.post(`/imports/${jobId}/dry-run`)).body).toMatchObject({ insertedRows: 1 });
    const executed = await http.post(`/imports/${jobId}/execute`);
    expect(executed.status).toBe(503);
    expect(executed.headers.get('retry-after')).toBe('5');
    expect((await http.get(`/imports/${jobId}`)).body.status).toBe('Mapped');
    const exported = await http.post('/exports/jobs', { definitionName: 'Shop.Articles', format: 'csv' });
    expect(exported.status).toBe(503);
    expect((await http.get('/exports/jobs')).body.items).toEqual([]);
  });
});

describe('a job whose start was lost', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  it('is started once by the background task', async () => {
    const caller = aCaller();
    const jobId = await mappedImport(exchange, caller, 'code,title\nA,a\n');
    await exchange.imports.advance(caller.tenantId, jobId, 'execute', {
      status: 'Executing',
      caller: { ...caller, permissions: [...caller.permissions] },
      executedAt: new Date(),
    });

    await Promise.all([exchange.starter.startOverdueJobs(), exchange.starter.startOverdueJobs()]);

    expect(await reportOf(exchange, caller, jobId)).toMatchObject({
      finalStatus: 'Completed',
      insertedRows: 1,
    });
  });

  it('ends Failed with a reason when its definition no longer exists', async () => {
    const caller = aCaller();
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n');
    const other = await mappedImport(exchange, caller, 'code,title\nB,b\n');
    await exchange.imports.advance(caller.tenantId, other, 'execute', {
      status: 'Executing',
      definitionName: 'No.Such',
      caller: { ...caller, permissions: [...caller.permissions] },
      executedAt: new Date(),
    });
    await exchange.starter.startOverdueJobs();

    const report = await reportOf(exchange, caller, other);
    expect(report).toMatchObject({ finalStatus: 'Failed', totalRows: 0 });
    expect((await exchange.imports.get(caller.tenantId, other)).errorMessage).toContain('No.Such');
    expect((await exchange.imports.get(caller.tenantId, jobId)).status).toBe('Completed');
  });
});
