import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { databaseUrl, keys, processEnvironment, readConfig } from './config';

const schema = z.object({ ...processEnvironment, SIGNING_KEYS: keys(), DATABASE_URL_NOTES: databaseUrl() });
const safe = {
  NODE_ENV: 'production',
  SIGNING_KEYS: 'Zx8rQm1vTb6nLw3kPc9yHd2fJg7sAe5u',
  DATABASE_URL_NOTES: 'postgres://notes_app:q7Tn2xWv@db/notes',
};

describe('the configuration of a process', () => {
  it('is read from variables, with the defaults of what is absent or empty', () => {
    const { config, errors } = readConfig(schema, { ...safe, LOG_LEVEL: '', ADMIN_PORT: '7' });

    expect(errors).toEqual([]);
    expect(config).toMatchObject({ LOG_LEVEL: 'info', ADMIN_PORT: 7, SIGNING_KEYS: [safe.SIGNING_KEYS] });
  });

  it('is read from files where a variable with _FILE names one, so that secrets can be mounted', () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-config-'));
    writeFileSync(join(folder, 'keys'), `${safe.SIGNING_KEYS}\n`);
    const mounted = { ...safe, SIGNING_KEYS: '', SIGNING_KEYS_FILE: join(folder, 'keys') };

    expect(readConfig(schema, mounted).config.SIGNING_KEYS).toEqual([safe.SIGNING_KEYS]);

    rmSync(folder, { recursive: true });
    expect(readConfig(schema, mounted).errors).toEqual([expect.stringMatching(/^SIGNING_KEYS: ENOENT/)]);
  });

  it('reports all its errors at once, by variable', () => {
    const { errors } = readConfig(schema, { ADMIN_PORT: 'x', SIGNING_KEYS: 'short' });

    expect(errors.map((error) => error.split(':')[0])).toEqual([
      'ADMIN_PORT',
      'SIGNING_KEYS',
      'DATABASE_URL_NOTES',
    ]);
    expect(errors).toContain('DATABASE_URL_NOTES: is missing.');
  });

  it.each([
    { SIGNING_KEYS: 'sixteen-characters' },
    { SIGNING_KEYS: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' },
    { SIGNING_KEYS: 'please-change-me-please-change-me-1234' },
    { SIGNING_KEYS: `${safe.SIGNING_KEYS},an-old-short-key` },
    { DATABASE_URL_NOTES: 'postgres://notes:notes@db/notes' },
    { DATABASE_URL_NOTES: 'postgres://notes:postgres@db/notes' },
  ])('is refused in production with %j', (unsafe) => {
    const [name] = Object.keys(unsafe);

    expect(readConfig(schema, { ...safe, ...unsafe }).errors).toEqual([expect.stringContaining(`${name}: `)]);
    expect(readConfig(schema, { ...safe, ...unsafe, NODE_ENV: 'development' }).errors).toEqual([]);
  });
});
