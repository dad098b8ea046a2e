import { aCaller } from '@plinth/testing/http';
import {
  importFile,
  mappedImport,
  startDataExchange,
  upload,
  type DataExchange,
} from './start-data-exchange';

const BYTES_MAX = 3_000_000;

describe('what a tenant has stored and running', () => {
  let exchange: DataExchange;
  beforeAll(async () => {
    exchange = await startDataExchange({
      worker: false,
      environment: { EXCHANGE_TENANT_BYTES_MAX: String(BYTES_MAX), EXCHANGE_TENANT_JOBS_MAX: '2' },
    });
  });
  afterAll(() => exchange.close());

  it('has a quota of bytes, which says when there will be room again, and is not shared by others', async () => {
    const caller = aCaller();
    const csv = `code,title\n${'A,some title that takes room\n'.repeat(50_000)}`;
    expect((await upload(exchange, caller, csv)).status).toBe(201);
    expect((await upload(exchange, caller, csv)).status).toBe(201);
    const refused = await upload(exchange, caller, csv);
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({
      type: expect.stringMatching(/quota-exceeded$/),
      quota: { name: 'exchange-file-bytes', scope: 'tenant', limit: BYTES_MAX },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(6 * 86_400);
    expect((await upload(exchange, aCaller(), csv)).status).toBe(201);
  });

  it('has a quota of jobs, which finished ones do not count against', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const ids = [];
    for (let number = 0; number < 3; number++)
      ids.push(await mappedImport(exchange, caller, 'code,title\nA,a\n'));
    expect((await http.post(`/imports/${ids[0]}/execute`)).status).toBe(202);
    expect((await http.post(`/imports/${ids[1]}/execute`)).status).toBe(202);
    const refused = await http.post(`/imports/${ids[2]}/execute`);
    expect([refused.status, refused.body.quota.name]).toEqual([429, 'exchange-jobs']);
    const job = {
      definitionName: 'Shop.Articles',
      format: 'csv',
      selectedFields: [],
      includeIdForImport: false,
    };
    expect((await http.post('/exports/jobs', job)).status).toBe(429);
  });
});

describe('what concerns the failed rows of an import', () => {
  let exchange: DataExchange;
  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  it('is read by bytes: a report describes what fits, the correction file has every row', async () => {
    const caller = aCaller();
    const rows = Array.from({ length: 30 }, (_, number) => `,${number}-${'x'.repeat(200_000)}`);
    const { jobId, report } = await importFile(exchange, caller, `code,title\n${rows.join('\n')}\n`);
    expect(report.failedRows).toBe(30);
    const withCells = await exchange.as(caller).get(`/imports/${jobId}/report?includeCells=true`);
    expect(withCells.body.rowErrors.length).toBeLessThan(25);
    const { text } = await exchange.as(caller).get(`/imports/${jobId}/correction-file`);
    expect(text.trim().split('\n')).toHaveLength(31);
  });

  it('ends as a stream when the credential of its reader expires', async () => {
    const caller = aCaller();
    const { body: job } = await upload(exchange, caller, 'code,title\nA,a\n');
    const reader = { ...caller, credentialExpiresAt: Date.now() + 700 };
    const { text } = await exchange.as(reader).get(`/imports/${job.id}/events`);
    expect(text).toContain('event: progress');
    expect(text).not.toContain('event: end');
  });
});
