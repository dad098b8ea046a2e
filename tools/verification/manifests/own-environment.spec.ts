import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_THREADS, ownEnvironment } from '../../development/launcher/environment.mjs';

const root = join(__dirname, '../../..');
const processes: Record<string, { name: string }[]> = JSON.parse(
  execFileSync(
    join(root, 'node_modules/.bin/node'),
    ['tools/release/configuration/configuration.ts', '--json'],
    { cwd: root, encoding: 'utf8' },
  ),
);
const isSecret = (variable: string) => /_KEYS$|_PASSWORD$|^DATABASE_URL_|REDIS_URL$/.test(variable);
const secretsOf = (service: string) =>
  processes[service]!.map(({ name }) => name)
    .filter(isSecret)
    .sort();
const all = Object.keys(processes).flatMap(secretsOf);
/** What people set for `npm start` itself: an administrator's databases. */
const MIGRATIONS = ['MIGRATE_DATABASE_URL', 'MIGRATE_DATABASE_URL_SETTINGS'];
const namesFor = (service: string, names: readonly string[]): string[] =>
  Object.keys(ownEnvironment(service, Object.fromEntries(names.map((name) => [name, 'a'])))).sort();

it.each(Object.keys(processes))(
  'the launcher gives %s the secrets that it reads, and no other, be they values or files',
  (service) => {
    const asFile = (name: string) => `${name}_FILE`;
    const own = secretsOf(service);
    const given = [...all, ...MIGRATIONS];
    expect(namesFor(service, [...given, 'PATH'])).toEqual([...own, 'PATH'].sort());
    expect(namesFor(service, given.map(asFile))).toEqual(own.map(asFile).sort());
  },
);

it('the launcher gives the process beside a browser what it reads, and nothing that it does not know', () => {
  const read = processes['pdf-renderer']!.map(({ name }) => name).sort();
  const unknown = ['AWS_SESSION_TOKEN', 'PGPASSWORD', 'GRPC_SERVICES', 'TEMPORAL_CA_FILE', 'A_NEW_SECRET'];
  expect(namesFor('pdf-renderer', [...read, ...unknown])).toEqual(read);
});

it('the launcher gives processes as many threads for files as the images do', () => {
  const [, ofImages] = /UV_THREADPOOL_SIZE=(\d+)/.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
  expect(FILE_THREADS).toBe(ofImages);
});
