import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { identify } from '../../development/launcher/process-identity.mjs';
import { resolveEndpoints } from './endpoints';

/** Of a platform that runs here. */
let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'plinth-platform-'));
  const processes = [{ name: 'postgres', port: 5999 }];
  writeFileSync(join(data, 'processes.json'), JSON.stringify({ launcher: identify(process.pid), processes }));
  writeFileSync(join(data, 'secrets.json'), JSON.stringify({ postgresPassword: 'own' }));
  jest.replaceProperty(process, 'env', { ...process.env, PLINTH_DATA: data });
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(data, { recursive: true });
});

const blobs = { BLOB_URL: 's3://production' };
const admin = { MIGRATE_DATABASE_URL: 'postgres://root:top@first/postgres' };
const timeline = { DATABASE_URL_TIMELINE: 'postgres://plinth_timeline_app:low@first:5432/plinth_timeline' };

describe('what operators look into', () => {
  it('is the platform that runs here where the environment names none', () => {
    const { adminUrlOf, blobUrl } = resolveEndpoints({});
    expect(adminUrlOf('data-exchange')).toBe('postgresql://postgres:own@127.0.0.1:5999/plinth_data_exchange');
    expect(blobUrl()).toBe(pathToFileURL(join(data, 'blobs')).href);
  });

  it('is what the environment names', () => {
    const { adminUrlOf, blobUrl } = resolveEndpoints({ ...blobs, ...admin, ...timeline });
    expect(adminUrlOf('timeline')).toBe('postgres://root:top@first/plinth_timeline');
    expect(blobUrl()).toBe('s3://production');
  });

  it.each([
    [blobs, 'DATABASE_URL_TIMELINE is not set'],
    [{ ...blobs, ...timeline }, 'neither MIGRATE_DATABASE_URL'],
    [{ ...blobs, ...admin }, 'DATABASE_URL_TIMELINE is not set'],
    [{ ...admin, ...timeline }, 'BLOB_URL is not set'],
    [{ MIGRATE_DATABASE_URL_TIMELINE: 'postgres://owner@second/plinth_timeline' }, 'DATABASE_URL_TIMELINE'],
  ])('is never a part of one platform and a part of another: %j', (environment, refusal) => {
    const { adminUrlOf, blobUrl } = resolveEndpoints(environment);
    expect(() => [adminUrlOf('timeline'), blobUrl()]).toThrow(refusal);
  });
});
