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
const all = Object.fromEntries(
  Object.keys(processes).flatMap((service) => secretsOf(service).map((name) => [name, 'a'])),
);

it.each(Object.keys(processes))(
  'the launcher gives %s the secrets that it reads, and no other',
  (service) => {
    expect(Object.keys(ownEnvironment(service, { ...all, PATH: '/bin' })).sort()).toEqual(
      [...secretsOf(service), 'PATH'].sort(),
    );
  },
);

it('the launcher gives processes as many threads for files as the images do', () => {
  const [, ofImages] = /UV_THREADPOOL_SIZE=(\d+)/.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
  expect(FILE_THREADS).toBe(ofImages);
});
