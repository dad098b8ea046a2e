import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { parse } from 'yaml';
import { errorsOf } from '../configuration/errors-of';
import { discoveredServices } from './discovered-services';
import { readByCompose } from './read-by-compose';

const root = join(__dirname, '../../..');
const monitoring = join(root, 'k8s/components/monitoring');

interface Container {
  image: string;
  build?: { args: Record<string, string> };
  command?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
  read_only?: boolean;
  tmpfs?: string[];
  user?: string;
  cap_drop?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  profiles?: string[];
  volumes?: string[];
  networks?: string[];
}

const compose: { services: Record<string, Container>; networks: Record<string, { internal?: boolean }> } =
  parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true });
const containers = compose.services;
const internalNetworks = Object.entries(compose.networks).flatMap(([name, { internal }]) =>
  internal ? [name] : [],
);
const ours = Object.entries(containers).filter(([, { image }]) => image.startsWith('plinth/'));

/** What variables of compose say where nothing else is said. */
const withDefaults = (environment: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, /^\$\{\w+:-(.*)\}$/.exec(value)?.[1] ?? value]),
  );

describe('docker-compose.yml', () => {
  it('is a valid compose file', () => {
    const result = readByCompose('docker-compose.yml');
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

  it('has no default with a brace, at which older versions of Docker Compose end the variable', () => {
    const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
    expect(text.match(/\$\{\w+:?-[^}]*\{/g) ?? []).toEqual([]);
  });

  it('mounts only files that are there', () => {
    const sources = Object.values(containers)
      .flatMap(({ volumes = [] }) => volumes)
      .filter((volume) => volume.startsWith('./'))
      .map((volume) => volume.split(':', 1)[0]!);
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
  });

  it('scrapes every process, as what the alerts know it by, through ways that are there', () => {
    const settings = parse(readFileSync(join(monitoring, 'compose/prometheus.yml'), 'utf8'));
    const scraped: { targets: [string]; labels: { service: string } }[] =
      settings.scrape_configs[0].static_configs;
    const wanted = ours.flatMap(([name]) =>
      name === 'migrate' ? [] : [name.endsWith('-worker') ? name : `${name}-grpc`],
    );
    expect(scraped.map(({ labels }) => labels.service).toSorted()).toEqual(wanted.toSorted());
    for (const { targets } of scraped) {
      const container = containers[targets[0].replace(':9091', '')];
      expect(container?.networks ?? ['default']).toContain('default');
    }
  });

  it('has the alerts of Kubernetes, in a form that Prometheus reads', () => {
    const promtool = findOrInstall('promtool');
    if (promtool === undefined) return;
    const folder = mkdtempSync(join(tmpdir(), 'plinth-prometheus-'));
    const [rules, settings] = [join(folder, 'alerts.yaml'), join(folder, 'prometheus.yml')];
    const text = readFileSync(join(monitoring, 'compose/prometheus.yml'), 'utf8');
    writeFileSync(settings, text.replace('/prometheus/alerts.yaml', rules));
    const script = containers['prometheus']!.command![0]!.replace(
      '/etc/prometheus/alerts.yaml',
      join(monitoring, 'alerts.yaml'),
    )
      .replace('/prometheus/alerts.yaml', rules)
      .replace(/exec prometheus .*/, `exec ${promtool} check config ${settings}`);

    const { status, stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });

    expect({ status, stdout }).toMatchObject({ status: 0 });
    const { spec } = parse(readFileSync(join(monitoring, 'alerts.yaml'), 'utf8'));
    expect(parse(readFileSync(rules, 'utf8'))).toEqual(spec);
    rmSync(folder, { recursive: true });
  });

  it.each(['data-exchange', 'data-exchange-worker'])(
    'gives %s room on the disk, not in memory, for the files of the largest workbook',
    (name) => {
      const { tmpfs = [], volumes = [], environment = {} } = containers[name]!;
      expect(tmpfs).toEqual([]);
      const [volume] = volumes.find((one) => one.split(':')[1] === '/tmp')!.split(':');
      expect(containers['blobs']!.volumes).toContain(`${volume}:${containers['blobs']!.command!.at(-1)}`);
      const [uploadBytes, textBytes] = [2 * 1024 ** 3, 4 * 1024 ** 3];
      expect(Number(environment['EXCHANGE_SCRATCH_BYTES_MAX'])).toBeGreaterThanOrEqual(
        uploadBytes + textBytes,
      );
    },
  );

  it('gives every service the addresses of all others and of its database', () => {
    const behind = discoveredServices().filter(({ name, hasHttp }) => hasHttp && name !== 'gateway');
    for (const { name } of behind) {
      const variable = `DATABASE_URL_${name.toUpperCase().replaceAll('-', '_')}`;
      expect(containers[name]?.environment).toHaveProperty(variable);
      expect(containers['migrate']?.environment).toHaveProperty(variable);
      expect(containers['gateway']?.environment?.['HTTP_SERVICES']).toContain(`${name}=http://${name}:8080`);
      expect(containers['gateway']?.environment?.['GRPC_SERVICES']).toContain(`${name}=${name}:9090`);
    }
  });

  it('gives every process an environment that it can be started with', () => {
    const started = ours.map(([, { image, environment = {} }]) => [
      /\/([^:]+):/.exec(image)![1]!,
      { NODE_ENV: 'production', ...withDefaults(environment) },
    ]) satisfies [string, Record<string, string>][];
    const errors = errorsOf(started);
    expect(ours.map(([name], index) => ({ name, errors: errors[index] }))).toEqual(
      ours.map(([name]) => ({ name, errors: [] })),
    );
  });

  it('gives every process its own secrets only, and binds no port that others of the network reach', () => {
    for (const [name, { environment = {} }] of ours) {
      if (name === 'migrate' || name === 'pdf-renderer') continue;
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

  it('lets nobody into Redis without its password, which the gateway and its health check have', () => {
    const { command, environment } = containers['redis']!;
    const password = command![command!.indexOf('--requirepass') + 1];
    expect(command).toContain('--requirepass');
    expect(new URL(containers['gateway']!.environment!['REDIS_URL']!).password).toBe(password);
    expect(environment).toEqual({ REDISCLI_AUTH: password });
  });

  it('gives the PDF renderer one key of its own, and a network in which only the template service is, and a way to its metrics', () => {
    const { environment, networks } = containers['pdf-renderer']!;
    expect(Object.keys(environment ?? {}).sort()).toEqual(['NODE_ENV', 'PDF_RENDERER_KEYS']);
    expect(networks).toEqual(['pdf']);
    expect(internalNetworks).toContain('pdf');
    const others = Object.entries(containers).filter(([, one]) => one.networks?.includes('pdf'));
    expect(others.map(([name]) => name).sort()).toEqual(['pdf-renderer', 'pdf-renderer-metrics', 'template']);
    // It passes on what it is asked by others, and listens to nothing else.
    expect(containers['pdf-renderer-metrics']?.command).toEqual([
      'tcp-listen:9091,fork,reuseaddr',
      'tcp-connect:pdf-renderer:9091',
    ]);
    const knowing = ours.filter(([, one]) => 'PDF_RENDERER_KEYS' in (one.environment ?? {}));
    expect(knowing.map(([name]) => name).sort()).toEqual(['pdf-renderer', 'template']);
  });

  it('checks the health of every container that stays, and starts it after those it depends on', () => {
    for (const [name, { healthcheck, depends_on = {} }] of Object.entries(containers)) {
      // Nothing waits for what a profile adds.
      if (containers[name]?.profiles) continue;
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
    for (const { image } of Object.values(containers)) expect(image).toMatch(/:v?\d+\.\d+[\w.-]*$/);
  });
});
