import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

const kubectl = (args: string[], input?: string) =>
  spawnSync('kubectl', [`--server=${server}`, '--insecure-skip-tls-verify', `--token=${TOKEN}`, ...args], {
    encoding: 'utf8',
    cwd: root,
    ...(input !== undefined && { input }),
  });

interface Workload {
  metadata: { name: string };
  spec: { template: { spec: { securityContext: object } } };
}

/** Of the workloads of a namespace. */
const imagesOf = (namespace: string): string[] => {
  const images = '{range .items[*]}{.spec.template.spec.containers[*].image}{"\\n"}{end}';
  const { stdout } = kubectl([
    'get',
    'deployments',
    `--namespace=${namespace}`,
    `--output=jsonpath=${images}`,
  ]);
  return stdout.split('\n').filter((image) => image !== '');
};

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
  await eventually(() => kubectl(['get', '--raw', '/readyz']).status === 0, START_MILLISECONDS_MAX);
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

      const { status, stderr } = kubectl(['apply', '--validate=strict', '--filename', manifests]);

      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    },
  );

  it('takes the next version of an overlay as k8s/README.md says', () => {
    const manifests = join(folder, 'production.yaml');
    const next = join(folder, 'next.yaml');
    writeFileSync(next, readFileSync(manifests, 'utf8').replaceAll(':0.1.0', ':0.2.0'));
    const [namespace, file] = ['--namespace=plinth', `--filename=${next}`];

    expect(kubectl(['delete', 'job', 'migrate', namespace, '--ignore-not-found'])).toMatchObject({
      status: 0,
    });
    expect(kubectl(['apply', '--validate=strict', file])).toMatchObject({ status: 0, stderr: '' });

    expect(imagesOf('plinth')).toContain('registry.example/plinth/gateway:0.2.0');
  });

  it('lets the pods of every workload into a namespace that enforces the restricted profile', () => {
    const list = (kind: string): Workload[] =>
      JSON.parse(kubectl(['get', kind, '--namespace=plinth', '--output=json']).stdout).items;
    const pods = [...list('deployments'), ...list('jobs')].map(({ metadata, spec }) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${metadata.name}-of-test`, namespace: 'plinth' },
      spec: spec.template.spec,
    }));
    const create = (items: object[]) =>
      kubectl(
        ['create', '--dry-run=server', '--filename=-'],
        JSON.stringify({ kind: 'List', apiVersion: 'v1', items }),
      );
    const [first] = pods;
    const asRoot = { ...first!, spec: { ...first!.spec, securityContext: { runAsUser: 0 } } };

    expect(pods.length).toBeGreaterThan(9);
    expect(create(pods)).toMatchObject({ status: 0, stderr: '' });
    expect(create([asRoot]).stderr).toContain('violates PodSecurity "restricted');
  });

  (helm === undefined ? describe.skip : describe)('asked by Helm', () => {
    let chart: string;
    const values = () => ['--values', join(chart, 'values-production.yaml')];

    const inNamespace = (name: string): string => {
      kubectl(['create', 'namespace', name]);
      const labels = ['enforce', 'warn'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
      kubectl(['label', 'namespace', name, ...labels]);
      return `--namespace=${name}`;
    };

    const runHelm = (...args: string[]) =>
      spawnSync(
        helm!,
        [`--kube-apiserver=${server}`, '--kube-insecure-skip-tls-verify', `--kube-token=${TOKEN}`, ...args],
        { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder } },
      );

    beforeAll(() => {
      chart = join(folder, 'chart');
      execFileSync(join(root, 'node_modules/.bin/node'), ['tools/release/chart/main.ts', chart], {
        cwd: root,
      });
    });

    it.each(['client', 'server'])('accepts what the chart renders, applied by the %s', (side) => {
      const namespace = inNamespace(`of-${side}`);
      const manifests = join(folder, `of-${side}.yaml`);
      writeFileSync(manifests, execFileSync(helm!, ['template', 'plinth', chart, namespace, ...values()]));
      const args = [`--server-side=${side === 'server'}`, '--validate=strict', `--filename=${manifests}`];

      // Whoever applies the same again changes nothing.
      for (const options of [['--dry-run=server'], [], []]) {
        const { status, stderr } = kubectl(['apply', ...args, ...options]);
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      }
    });

    it('installs a release, upgrades it to the next values, and takes it back', () => {
      const namespace = inNamespace('of-helm');
      const release = (verb: string, ...options: string[]) => {
        const { status, stderr } = runHelm(verb, 'plinth', chart, namespace, ...values(), ...options);
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      };
      const jobs = () =>
        kubectl(['get', 'jobs', namespace, '--output=jsonpath={.items[*].metadata.name}']).stdout.split(' ');

      release('install');
      const before = imagesOf('of-helm');
      const [firstJob] = jobs();
      const next = ['--set=image.tag=0.2.0', '--set-string=configuration.DRAIN_SECONDS=9'];
      release('upgrade', ...next, '--set=workloads.workflow-worker.replicas.max=3');

      expect(imagesOf('of-helm')).toEqual(before.map((image) => image.replace(':0.1.0', ':0.2.0')));
      expect(jobs()).toHaveLength(1);
      expect(jobs()).not.toContain(firstJob);

      expect(runHelm('rollback', 'plinth', '1', namespace)).toMatchObject({ status: 0, stderr: '' });
      expect(imagesOf('of-helm')).toEqual(before);
      expect(runHelm('uninstall', 'plinth', namespace)).toMatchObject({ status: 0, stderr: '' });
      expect(imagesOf('of-helm')).toEqual([]);
    });
  });
});
