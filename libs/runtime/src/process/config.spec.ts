import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import {
  databaseUrl,
  keys,
  processEnvironment,
  readConfig,
  serviceEnvironment,
  temporalEnvironment,
} from './config';

const schema = z.object({ ...processEnvironment, SIGNING_KEYS: keys(), DATABASE_URL_NOTES: databaseUrl() });
const safe = {
  NODE_ENV: 'production',
  CONNECTIONS_SECURED_BY: 'mesh',
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

  it('grants no longer drain than leaves open requests their time', () => {
    const drain = (seconds: string) => readConfig(schema, { ...safe, DRAIN_SECONDS: seconds }).errors;

    expect(drain('15')).toEqual([]);
    expect(drain('65')).toEqual([expect.stringMatching(/^DRAIN_SECONDS: .*15/)]);
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

  it('is refused when it says nothing about where it runs, in an empty variable', () => {
    expect(readConfig(schema, { ...safe, NODE_ENV: '' }).errors).toEqual(['NODE_ENV: is empty.']);
  });

  it('is refused in production without TLS and credentials of all servers, where no mesh has them', () => {
    const { NATS_URL, NATS_USER, NATS_PASSWORD } = serviceEnvironment;
    const connected = z.object({
      ...schema.shape,
      ...temporalEnvironment,
      NATS_URL,
      NATS_USER,
      NATS_PASSWORD,
      REDIS_URL: z.string(),
    });
    const open = { ...safe, REDIS_URL: 'redis://redis:6379' };
    expect(readConfig(connected, open).errors).toEqual([]);
    const { errors } = readConfig(connected, { ...open, CONNECTIONS_SECURED_BY: 'tls' });
    expect(errors.map((error) => error.split(':')[0]).sort()).toEqual([
      'DATABASE_URL_NOTES',
      'NATS_PASSWORD',
      'NATS_URL',
      'REDIS_URL',
      'TEMPORAL_API_KEY',
      'TEMPORAL_TLS',
    ]);
    const secured = {
      ...safe,
      CONNECTIONS_SECURED_BY: 'tls',
      DATABASE_URL_NOTES: `${safe.DATABASE_URL_NOTES}?sslmode=verify-full`,
      NATS_URL: 'tls://nats:4222',
      NATS_USER: 'notes',
      NATS_PASSWORD: 'q7Tn2xWv',
      REDIS_URL: 'rediss://:q7Tn2xWv@redis:6379',
      TEMPORAL_TLS: 'true',
      TEMPORAL_API_KEY: safe.SIGNING_KEYS,
    };
    expect(readConfig(connected, secured).errors).toEqual([]);
  });
});
