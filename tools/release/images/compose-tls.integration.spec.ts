import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { hasOpenssl } from '@plinth/testing/tls';
import { parse } from 'yaml';
import { readByCompose } from './read-by-compose';

const root = join(__dirname, '../../..');

interface Container {
  image?: string;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  networks?: string[];
  depends_on?: Record<string, { condition: string }>;
}

const containersOf = (file: string): Record<string, Container> =>
  parse(readFileSync(join(root, file), 'utf8'), { merge: true }).services;
const plain = containersOf('docker-compose.yml');
const secured = containersOf('docker-compose.tls.yml');
/** The processes that connect to servers; the PDF renderer reaches none. */
const processes = Object.keys(plain).filter(
  (name) => plain[name]!.image?.startsWith('plinth/') && name !== 'pdf-renderer',
);
const CERTIFICATES = '/var/run/plinth/certificates';

describe('docker-compose.tls.yml', () => {
  it('is a valid compose file on top of the other one', () => {
    const result = readByCompose('docker-compose.yml', 'docker-compose.tls.yml');
    if (result) expect({ status: result.status, said: result.stderr }).toEqual({ status: 0, said: '' });
  });

  it.each(processes)('leaves %s no connection without TLS', (name) => {
    const before = plain[name]!.environment ?? {};
    const environment: Record<string, string> = { ...before, ...secured[name]?.environment };
    for (const [variable, value] of Object.entries(environment)) {
      expect({ variable, value }).not.toEqual({ variable, value: expect.stringMatching(/^(nats|redis):/) });
      if (!value.startsWith('postgres:')) continue;
      expect(new URL(value).search).toBe(`?sslmode=verify-full&sslrootcert=${CERTIFICATES}/authority.pem`);
      // The same database, user and password.
      expect(value.split('?')[0]).toBe(before[variable]);
    }
    if ('TEMPORAL_ADDRESS' in environment) {
      expect(environment).toMatchObject({ TEMPORAL_TLS: 'true', TEMPORAL_ADDRESS: 'temporal-tls:7233' });
    }
    expect(secured[name]?.volumes).toContain(`certificates:${CERTIFICATES}:ro`);
    const waits = secured[name]?.depends_on;
    expect(waits?.['certificates']).toEqual({ condition: 'service_completed_successfully' });
  });

  // A list of the override replaces that of the file below it.
  it('keeps what the servers were started with', () => {
    const changed = Object.keys(plain).filter((name) => secured[name]?.command);
    expect(changed).toEqual(expect.arrayContaining(['postgres', 'redis', 'nats']));
    for (const name of changed) {
      const before = plain[name]!.command!;
      expect(secured[name]!.command!.slice(0, before.length)).toEqual(before);
    }
  });

  it('lets nothing reach Temporal but by TLS', () => {
    const inItsNetwork = Object.entries(secured).filter(([, { networks }]) => networks?.includes('temporal'));
    expect(inItsNetwork.map(([name]) => name)).toEqual(['temporal', 'temporal-tls']);
    expect(plain['temporal']!.networks).toBeUndefined();
    expect(secured['temporal']!.networks).toEqual(['temporal']);
  });

  it('mounts only files that are there', () => {
    const sources = Object.values(secured)
      .flatMap(({ volumes = [] }) => volumes)
      .filter((volume) => volume.startsWith('./'))
      .map((volume) => volume.split(':', 1)[0]!);
    expect(sources).not.toEqual([]);
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
  });
});

(hasOpenssl ? describe : describe.skip)('the certificates of docker-compose.tls.yml', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-certificates-'));
  const [authority, certificates] = [join(folder, 'authority'), join(folder, 'certificates')];
  const read = (name: string) => new X509Certificate(readFileSync(join(certificates, `${name}.pem`)));
  const make = () => {
    const { status, stderr } = spawnSync(
      'sh',
      [join(__dirname, 'tls/certificates.sh'), authority, certificates],
      {
        encoding: 'utf8',
        // Only root may give files away.
        env: { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` },
      },
    );
    if (status !== 0) throw new Error(stderr);
  };

  beforeAll(() => {
    mkdirSync(authority);
    mkdirSync(certificates);
    writeFileSync(join(folder, 'chown'), `#!/bin/sh\necho "$@" >> '${join(folder, 'given')}'\n`);
    chmodSync(join(folder, 'chown'), 0o755);
    make();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('name the servers as the processes know them, and are issued by the authority', () => {
    const issuer = read('authority');
    for (const name of ['postgres', 'redis', 'nats', 'temporal-tls', 'platform']) {
      expect(read(name).checkHost(name)).toBe(name);
      expect(read(name).checkIssued(issuer)).toBe(true);
      expect(read(name).verify(issuer.publicKey)).toBe(true);
    }
  });

  it('have keys that only their users read', () => {
    const given = readFileSync(join(folder, 'given'), 'utf8').trim().split('\n');
    expect(given.map((line) => line.replace(`${certificates}/`, ''))).toEqual([
      '70 postgres-key.pem',
      '999 redis-key.pem',
      '0 nats-key.pem',
      '0 temporal-tls-key.pem',
      '10001 platform-key.pem',
    ]);
  });

  it('stay at the next start, but for one that ends within a month', () => {
    const [before, ending] = [read('redis'), read('postgres')];
    const request = ['x509', '-in', 'postgres.pem', '-signkey', 'postgres-key.pem', '-days', '20'];
    const shortened = spawnSync('openssl', [...request, '-out', 'postgres.pem'], { cwd: certificates });
    expect(shortened.status).toBe(0);
    make();
    expect(read('redis').fingerprint256).toBe(before.fingerprint256);
    expect(read('postgres').fingerprint256).not.toBe(ending.fingerprint256);
    expect(read('postgres').checkIssued(read('authority'))).toBe(true);
  });
});
