import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Caller } from '@plinth/kernel/caller';
import { aCaller } from '@plinth/testing/http';
import { cleanUpFiles } from '../src/app/clean-up-files';
import {
  exportFile,
  mappedImport,
  startDataExchange,
  upload,
  type DataExchange,
} from './start-data-exchange';

const HOUR_MILLISECONDS = 3_600_000;
const DAY_MILLISECONDS = 24 * HOUR_MILLISECONDS;

describe('cleanUpFiles', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  const files = ({ tenantId }: Caller, kind: 'exports' | 'imports'): string[] => {
    try {
      return readdirSync(join(exchange.folder, tenantId, kind));
    } catch {
      return [];
    }
  };
  const after = (milliseconds: number) =>
    cleanUpFiles({ ...exchange, clock: { now: () => new Date(Date.now() + milliseconds) } });

  it('deletes the file of an export after its retention, and the download reports that', async () => {
    const caller = aCaller();
    const { job } = await exportFile(exchange, caller);
    const download = () => exchange.as(caller).get(`/exports/jobs/${job.id}/download`);

    await after(7 * DAY_MILLISECONDS - HOUR_MILLISECONDS);
    expect((await download()).status).toBe(200);
    await after(7 * DAY_MILLISECONDS + HOUR_MILLISECONDS);

    const gone = await download();
    expect(gone.status).toBe(410);
    expect(gone.headers.get('content-type')).toContain('application/problem+json');
    expect(gone.body.type).toContain('/problems/export-expired');
    expect(files(caller, 'exports')).toEqual([]);
    expect((await exchange.as(caller).get(`/exports/jobs/${job.id}`)).body.status).toBe('Completed');
  });

  it('cancels uploads that were never executed and deletes their files', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const { body: created } = await upload(exchange, caller, 'code,title\nA,a\n');
    const mapped = await mappedImport(exchange, caller, 'code,title\nA,a\n');

    await after(6 * DAY_MILLISECONDS);
    expect(files(caller, 'imports')).toHaveLength(2);
    await after(8 * DAY_MILLISECONDS);
    await after(9 * DAY_MILLISECONDS);

    expect(files(caller, 'imports')).toEqual([]);
    for (const id of [created.id, mapped]) {
      expect((await http.get(`/imports/${id}`)).body.status).toBe('Cancelled');
      expect((await http.post(`/imports/${id}/execute`)).status).toBe(409);
    }
  });

  it('deletes the file that an ended job left, an hour later', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const jobId = await mappedImport(exchange, caller, 'code,title\nA,a\n');
    // As if the process had died between ending the job and removing its file.
    await exchange.imports.cancelBeforeExecution(caller.tenantId, jobId, new Date());
    const { body: job } = await http.post('/exports/jobs', {
      definitionName: 'Shop.Articles',
      format: 'csv',
    });
    await exchange.exports.fail(caller.tenantId, job.id, 'The process died.', new Date());

    await after(HOUR_MILLISECONDS / 2);
    expect(files(caller, 'imports')).toEqual([jobId]);
    await after(2 * HOUR_MILLISECONDS);

    expect(files(caller, 'imports')).toEqual([]);
    expect(files(caller, 'exports')).toEqual([]);
  });
});
