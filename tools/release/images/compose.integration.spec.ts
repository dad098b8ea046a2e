import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { parse } from 'yaml';
import { discoveredServices } from './discovered-services';

const root = join(__dirname, '../../..');
const file = join(root, 'docker-compose.yml');

interface Container {
  image: string;
  build?: { args: Record<string, string> };
  command?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
  read_only?: boolean;
  user?: string;
  cap_drop?: string[];
  environment?: Record<string, string>;
  ports?: string[];
}

const containers: Record<string, Container> = parse(readFileSync(file, 'utf8'), { merge: true }).services;
const ours = Object.entries(containers).filter(([, { image }]) => image.startsWith('plinth/'));

/** The Docker client where it is installed, else the library that reads compose files. */
function readByCompose() {
  const client = spawnSync('docker', ['compose', '--file', file, 'config', '--quiet'], { encoding: 'utf8' });
  if (!/unknown (command|flag)|not a docker command/.test(client.stderr ?? '') && !client.error)
    return client;
  const reader = findOrInstall('compose');
  return reader === undefined ? undefined : spawnSync(reader, [file], { encoding: 'utf8' });
}

describe('docker-compose.yml', () => {
  it('is a valid compose file', () => {
    const result = readByCompose();
    if (result) expect({ status: result.status, said: result.stderr }).toEqual({ status: 0, said: '' });
  });

  it('has a container for every process of every service, the migrations, and their servers', () => {
    const wanted = discoveredServices().flatMap(({ name, hasMain, hasWorker }) => [
      ...(hasMain ? [name] : []),
      ...(hasWorker ? [`${name}-worker`] : []),
    ]);
    expect(Object.keys(containers)).toEqual(
      expect.arrayContaining([...wanted, 'migrate', 'postgres', 'redis', 'nats', 'temporal']),
    );
  });

  it('gives every service the addresses of all others and of its database', () => {
    const behind = discoveredServices().filter(({ name, hasMain }) => hasMain && name !== 'gateway');
    for (const { name } of behind) {
      const variable = `DATABASE_URL_${name.toUpperCase().replaceAll('-', '_')}`;
      expect(containers[name]?.environment).toHaveProperty(variable);
      expect(containers['migrate']?.environment).toHaveProperty(variable);
      expect(containers['gateway']?.environment?.['HTTP_SERVICES']).toContain(`${name}=http://${name}:8080`);
      expect(containers['gateway']?.environment?.['GRPC_SERVICES']).toContain(`${name}=${name}:9090`);
    }
  });

  it('gives every process its own secrets only, and binds no port that others of the network reach', () => {
    for (const [name, { environment = {} }] of ours) {
      if (name === 'migrate') continue;
      const service = name.replace(/-worker$/, '');
      const databases = Object.keys(environment).filter((variable) => variable.startsWith('DATABASE_URL'));
      expect({ name, databases: databases.length }).toEqual({ name, databases: name === 'gateway' ? 0 : 1 });
      expect(environment['NATS_USER']).toBe(name === 'gateway' ? undefined : service);
      expect('SETTINGS_ENCRYPTION_KEYS' in environment).toBe(service === 'settings');
      expect('REDIS_URL' in environment).toBe(name === 'gateway');
      expect('EVENT_KEYS' in environment).toBe(name !== 'gateway');
    }
    for (const { ports = [] } of Object.values(containers)) {
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it('checks the health of every container that stays, and starts it after those it depends on', () => {
    for (const [name, { healthcheck, depends_on = {} }] of Object.entries(containers)) {
      const ends = ['migrate', 'blobs'].includes(name);
      if (!ends) expect({ name, test: healthcheck?.test }).toEqual({ name, test: expect.any(Array) });
      for (const [part, { condition }] of Object.entries(depends_on)) {
        const partEnds = ['migrate', 'blobs'].includes(part);
        expect(condition).toBe(partEnds ? 'service_completed_successfully' : 'service_healthy');
      }
    }
  });

  it.each(ours)('runs %s as an unprivileged user, read-only and without capabilities', (_name, container) => {
    expect(container).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(container.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  it('pins the version of every image', () => {
    for (const { image } of Object.values(containers)) expect(image).toMatch(/:\d+\.\d+[\w.-]*$/);
  });
});
