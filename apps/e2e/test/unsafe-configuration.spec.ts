import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { infrastructure } from '@plinth/testing/infrastructure';
import { prepareCode } from '@plinth/testing/prepare-code';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';

const root = join(__dirname, '../../..');
const node = join(root, 'node_modules/.bin/node');
const EX_CONFIG = 78;

const random = {
  CALLER_KEYS: 'Zx8rQm1vTb6nLw3kPc9yHd2fJg7sAe5u',
  CURSOR_KEYS: 'Pb4kWd9xRn2hVy7mTc6gQs1jLf8zUa3e',
  EVENT_KEYS: 'Wq6mXz3rTf9kLb2vYc8nJh5pGd7sAu4e',
  SETTINGS_ENCRYPTION_KEYS: 'Hn5tGv8cXz2qJw7rMk4pBd9sYf3uLe6a',
};
const production = {
  ...random,
  NODE_ENV: 'production',
  CONNECTIONS_SECURED_BY: 'mesh',
  OIDC_ISSUER: 'https://identity.example',
  OIDC_JWKS_URL: 'https://identity.example/keys',
  DATABASE_URL_SETTINGS: 'postgres://settings:Kq7vXm2nRt9w@127.0.0.1:1/settings',
};

let database: TestDatabase;
beforeAll(async () => {
  prepareCode();
  database = await createTestDatabase('settings');
});
afterAll(() => database.drop());

/** Starts a process as the image does. */
function start(service: string, environment: Record<string, string>) {
  const ports = { HTTP_PORT: '0', GRPC_PORT: '0', ADMIN_PORT: '0', HTTP_HOST: '127.0.0.1' };
  const { redisUrl, natsUrl } = infrastructure();
  const env = { ...ports, REDIS_URL: redisUrl, NATS_URL: natsUrl, ...environment };
  return spawn(node, [join(root, 'dist/apps', service, 'main.js')], { env });
}

/** Starts a process as the image does, and waits until it exits. */
async function ended(service: string, environment: Record<string, string>) {
  const child = start(service, environment);
  const [output, complaint, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { exitCode, said: output + complaint };
}

describe('a process exits at its start, with the code for an invalid configuration,', () => {
  it.each([
    ['gateway', 'pages of every origin may use it', { CORS_ORIGINS: '*' }, 'CORS_ORIGINS'],
    ['gateway', 'everybody may have a token', { DEV_ISSUER: 'true' }, 'DEV_ISSUER'],
    ['gateway', 'there is no way to sign in', { OIDC_ISSUER: '' }, 'OIDC_ISSUER'],
    ['gateway', 'a key is known', { CALLER_KEYS: 'development-only-caller-key' }, 'CALLER_KEYS'],
    ['settings', 'a key is known', { CURSOR_KEYS: 'change-me-change-me-change-me-change-me' }, 'CURSOR_KEYS'],
    [
      'settings',
      'a key can be guessed',
      { SETTINGS_ENCRYPTION_KEYS: 'development-only-encryption-key' },
      'SETTINGS_ENCRYPTION_KEYS',
    ],
    [
      'settings',
      'the password of its database can be guessed',
      { DATABASE_URL_SETTINGS: 'postgres://postgres:postgres@127.0.0.1:1/settings' },
      'DATABASE_URL_SETTINGS',
    ],
    ['gateway', 'anybody may ask Redis', { CONNECTIONS_SECURED_BY: 'tls' }, 'REDIS_URL'],
    ['settings', 'anybody may publish events', { CONNECTIONS_SECURED_BY: 'tls' }, 'NATS_PASSWORD'],
    ['settings', 'nobody said that it is one', { NODE_ENV: '' }, 'NODE_ENV'],
  ])('when in production at %s %s', async (service, _why, unsafe, variable) => {
    const { exitCode, said } = await ended(service, { ...production, ...unsafe });

    expect(exitCode).toBe(EX_CONFIG);
    expect(said).toContain(variable);
  });

  it('when its database role bypasses row-level security, in every environment', async () => {
    const { exitCode, said } = await ended('settings', {
      ...random,
      NODE_ENV: 'development',
      DATABASE_URL_SETTINGS: database.adminUrl,
    });

    expect(exitCode).toBe(EX_CONFIG);
    expect(said).toContain('bypasses row-level security');
  });
});

it('a process that waits for its database at its start ends in order when it is stopped', async () => {
  const child = start('settings', { ...production });
  let said = '';
  for await (const chunk of child.stdout) {
    said += chunk;
    if (said.includes('part is down')) child.kill('SIGTERM');
  }
  expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(0);
  expect(said).not.toContain('unexpected error');
});
