import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@plinth/testing/eventually';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { freePort } from '@plinth/testing/free-port';

const root = join(__dirname, '../../..');
const programs = ['etcd', 'kube-apiserver', 'kubectl'];
const missing = programs.filter((name) => spawnSync('which', [name]).status !== 0);
if (missing.length > 0)
  process.stderr.write(
    `NOT TESTED: a real API server accepts the manifests; ${missing.join(', ')} is not installed.\n`,
  );

const helm = missing.length > 0 ? undefined : findOrInstall('helm');

const TOKEN = 'of-this-test';
const START_MILLISECONDS_MAX = 120_000;

let folder: string;
let server: string;
const running: ChildProcess[] = [];

const start = (program: string, options: Record<string, string>): void => {
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  running.push(spawn(program, args, { cwd: folder, stdio: 'ignore' }));
};

const kubectl = (...args: string[]) =>
  spawnSync('kubectl', [`--server=${server}`, '--insecure-skip-tls-verify', `--token=${TOKEN}`, ...args], {
    encoding: 'utf8',
    cwd: root,
  });

async function startApiServer(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'plinth-api-server-'));
  const [store, peers, port] = await Promise.all([freePort(), freePort(), freePort()]);
  const storeUrl = `http://127.0.0.1:${store}`;
  const peersUrl = `http://127.0.0.1:${peers}`;
  server = `https://127.0.0.1:${port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = join(folder, 'accounts.key');
  const tokens = join(folder, 'tokens');
  writeFileSync(key, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  writeFileSync(tokens, `${TOKEN},test,1,system:masters\n`);
  start('etcd', {
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': storeUrl,
    'advertise-client-urls': storeUrl,
    'listen-peer-urls': peersUrl,
    'initial-advertise-peer-urls': peersUrl,
    'initial-cluster': `default=${peersUrl}`,
  });
  start('kube-apiserver', {
    'etcd-servers': storeUrl,
    'bind-address': '127.0.0.1',
    'secure-port': String(port),
    'cert-dir': folder,
    'service-account-key-file': key,
    'service-account-signing-key-file': key,
    'service-account-issuer': 'https://kubernetes.default.svc',
    'token-auth-file': tokens,
    'authorization-mode': 'RBAC',
    'service-cluster-ip-range': '10.0.0.0/24',
  });
  await eventually(() => kubectl('get', '--raw', '/readyz').status === 0, START_MILLISECONDS_MAX);
}

(missing.length > 0 ? describe.skip : describe)('a real Kubernetes API server', () => {
  beforeAll(startApiServer, START_MILLISECONDS_MAX);
  afterAll(async () => {
    for (const child of running) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(['dev', 'production'])(
    'accepts every manifest of the overlay %s with strict validation, without a warning of the restricted profile',
    (overlay) => {
      const manifests = join(folder, `${overlay}.yaml`);
      writeFileSync(
        manifests,
        execFileSync('kubectl', ['kustomize', `k8s/overlays/${overlay}`], { cwd: root }),
      );

      const { status, stderr } = kubectl('apply', '--validate=strict', '--filename', manifests);

      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    },
  );

  (helm === undefined ? it.skip : it)('accepts what the Helm chart renders in the same way', () => {
    const chart = join(folder, 'chart');
    execFileSync(join(root, 'node_modules/.bin/node'), ['tools/release/chart/main.ts', chart], { cwd: root });
    const options = ['--namespace', 'of-helm', '--values', join(chart, 'values-production.yaml')];
    const manifests = join(folder, 'chart.yaml');
    writeFileSync(manifests, execFileSync(helm!, ['template', 'plinth', chart, ...options]));
    kubectl('create', 'namespace', 'of-helm');
    kubectl('label', 'namespace', 'of-helm', 'pod-security.kubernetes.io/warn=restricted');

    const { status, stderr } = kubectl('apply', '--validate=strict', '--filename', manifests);

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
