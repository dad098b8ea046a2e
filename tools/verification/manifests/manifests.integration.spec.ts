import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Ajv, { type ValidateFunction } from 'ajv';
import { errorsOf } from '../../release/configuration/errors-of';
import { discoveredServices } from '../../release/images/discovered-services';
import { givenToPod, imageOf, inRenderedSecrets } from '../../release/images/given-to-pod';
import { discoverServices } from '../../development/launcher/services.mjs';
import { serviceProcesses } from '../../development/launcher/service-processes.mjs';
import { mebibytesOf } from '@plinth/testing/pods';
import schemas from './kubernetes-1.36.json';
import type { Manifest } from '../../release/chart/manifest';
import { renderManifests } from './render-manifests';

const root = join(__dirname, '../../..');
const overlays = {
  dev: renderManifests('k8s/overlays/dev'),
  production: renderManifests('k8s/overlays/production'),
};
const monitoring = renderManifests('k8s/components/monitoring');

interface PodSpec {
  serviceAccountName: string;
  automountServiceAccountToken: boolean;
  hostNetwork?: boolean;
  hostPID?: boolean;
  terminationGracePeriodSeconds: number;
  restartPolicy?: string;
  securityContext: { runAsNonRoot: boolean; runAsUser: number; seccompProfile: { type: string } };
  topologySpreadConstraints?: { labelSelector: { matchLabels: Labels }; matchLabelKeys: string[] }[];
  containers: Container[];
  volumes: {
    name: string;
    secret?: { secretName: string };
    emptyDir?: { sizeLimit?: string };
    hostPath?: unknown;
  }[];
}
interface Container {
  name: string;
  image: string;
  args: string[];
  env: { name: string; value?: string; valueFrom?: { configMapKeyRef?: { name: string; key: string } } }[];
  envFrom?: { configMapRef?: { name: string }; secretRef?: unknown }[];
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  securityContext: Record<string, unknown>;
  volumeMounts: { name: string; mountPath: string }[];
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  lifecycle?: { preStop: { sleep: { seconds: number } } };
  ports?: { name: string }[];
}
type Probe = { httpGet: { path: string; port: string } };
type Labels = Record<string, string>;

const podOf = ({ spec }: Manifest) =>
  (spec as { template: { metadata: { labels: Labels }; spec: PodSpec } }).template;
const named = (manifests: Manifest[], kind: string) => manifests.filter((manifest) => manifest.kind === kind);
const workloads = (manifests: Manifest[]) =>
  manifests.filter(({ kind }) => ['Deployment', 'Job', 'CronJob', 'StatefulSet', 'DaemonSet'].includes(kind));
const selects = (selector: Labels, labels: Labels) =>
  Object.keys(selector).length > 0 && Object.entries(selector).every(([key, value]) => labels[key] === value);

const validators = validatorsOf(schemas);

function validatorsOf({ kinds, definitions }: { kinds: Record<string, string>; definitions: object }) {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: 'kubernetes', definitions });
  return (kind: string): ValidateFunction | undefined => {
    const name = kinds[kind];
    return name === undefined ? undefined : ajv.compile({ $ref: `kubernetes#/definitions/${name}` });
  };
}

describe.each(Object.entries(overlays))('the Kubernetes overlay %s', (name, manifests) => {
  if (manifests === undefined)
    return it.skip('is not tested: there is neither kubectl nor kustomize', () => {});
  const ofPods = workloads(manifests).map((manifest) => [manifest.metadata.name, podOf(manifest)] as const);
  const deployments = named(manifests, 'Deployment').map(
    (manifest) => [manifest.metadata.name, podOf(manifest)] as const,
  );

  it('has only kinds and fields that Kubernetes 1.36 knows', () => {
    for (const manifest of manifests) {
      const kind = `${manifest.apiVersion} ${manifest.kind}`;
      const validate = validators(kind);
      expect({ kind, isKnown: validate !== undefined }).toEqual({ kind, isKnown: true });
      validate?.(manifest);
      expect({ name: manifest.metadata.name, errors: validate?.errors }).toEqual({
        name: manifest.metadata.name,
        errors: null,
      });
    }
  });

  it('has every process of every service, in a namespace that enforces the restricted profile', () => {
    const wanted = discoveredServices().flatMap((service) => [
      ...(service.hasMain ? [`${service.name}-main`] : []),
      ...(service.hasWorker ? [`${service.name}-worker`] : []),
    ]);
    expect(deployments.map(([deployment]) => deployment)).toEqual(expect.arrayContaining(wanted));
    const [namespace] = named(manifests, 'Namespace');
    expect(namespace?.metadata.labels).toMatchObject({
      'pod-security.kubernetes.io/enforce': 'restricted',
      'pod-security.kubernetes.io/warn': 'restricted',
    });
    const others = manifests.filter(({ kind }) => kind !== 'Namespace');
    expect(new Set(others.map(({ metadata }) => metadata.namespace))).toEqual(
      new Set([namespace?.metadata.name]),
    );
  });

  it.each(ofPods)('runs %s under the restricted profile', (_workload, { spec }) => {
    expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    expect(spec).not.toHaveProperty('hostNetwork');
    expect(spec).not.toHaveProperty('hostPID');
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: expect.any(Object) });
    expect(spec.securityContext.runAsUser).toBeGreaterThan(0);
    for (const { securityContext } of spec.containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
    for (const volume of spec.volumes) {
      expect(volume).not.toHaveProperty('hostPath');
      if (volume.emptyDir) expect(volume.emptyDir.sizeLimit).toEqual(expect.any(String));
    }
  });

  it.each(ofPods)('limits the resources of %s, and pins its image', (_workload, { spec }) => {
    for (const { resources, image, env } of spec.containers) {
      expect(image).toMatch(/(:\d+\.\d+\.\d+|@sha256:[0-9a-f]{64})$/);
      expect(Object.keys(resources.limits).sort()).toEqual(['cpu', 'ephemeral-storage', 'memory']);
      expect(resources.requests['memory']).toBe(resources.limits['memory']);
      const options = env.find((one) => one.name === 'NODE_OPTIONS')?.value ?? '';
      const [, old] = /--max-old-space-size=(\d+)/.exec(options) ?? [];
      const [, young] = /--max-semi-space-size=(\d+)/.exec(options) ?? [];
      const heap = Number(old) + 3 * Number(young);
      expect(heap).toBeLessThanOrEqual(0.75 * mebibytesOf(resources.limits['memory']!));
    }
  });

  it.each(deployments.filter(([workload]) => workload.endsWith('-worker')))(
    'starts %s with the heap size of the measurements',
    (workload, { spec }) => {
      const { args, env } = startOfProcess(workload);
      const given = Object.fromEntries(spec.containers[0]!.env.map((one) => [one.name, one.value]));
      expect(given['NODE_OPTIONS']?.split(' ')).toEqual(args.filter((arg) => arg.startsWith('--max-')));
      for (const name of ofTheAllocator) expect(given[name]).toBe(env?.[name]);
    },
  );

  it.each(ofPods)('gives %s its own service account, and its secrets as files', (workload, { spec }) => {
    expect(named(manifests, 'ServiceAccount').map(({ metadata }) => metadata.name)).toContain(
      spec.serviceAccountName,
    );
    expect(ofPods.filter(([, pod]) => pod.spec.serviceAccountName === spec.serviceAccountName)).toHaveLength(
      1,
    );
    for (const { env, envFrom = [] } of spec.containers) {
      for (const { name: variable, valueFrom } of env.filter((one) => one.valueFrom !== undefined))
        expect(valueFrom).toEqual({
          configMapKeyRef: { name: expect.stringMatching(/^plinth-\w+$/), key: variable, optional: true },
        });
      expect(envFrom.filter(({ secretRef }) => secretRef !== undefined)).toEqual([]);
    }
    const databases = spec.volumes.filter(({ secret }) => secret?.secretName.includes('-database'));
    if (workload !== 'migrate') expect(databases.length).toBeLessThanOrEqual(1);
  });

  it.each(deployments)('probes %s for startup, liveness and readiness', (deployment, { spec }) => {
    const [container] = spec.containers;
    expect(container).toMatchObject({
      startupProbe: { httpGet: { path: '/healthz', port: 'admin' } },
      readinessProbe: { httpGet: { path: '/readyz', port: 'admin' } },
      livenessProbe: { httpGet: { path: '/healthz', port: 'admin' } },
    });
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(60);
    if (deployment.endsWith('-main'))
      expect(container?.lifecycle?.preStop.sleep.seconds).toBeGreaterThanOrEqual(5);
  });

  it.each(deployments)(
    'keeps %s available during rollouts and node maintenance',
    (deployment, { spec, metadata }) => {
      const own = (kind: string) =>
        named(manifests, kind).filter(({ spec: one }) => {
          const { scaleTargetRef, selector } = one as {
            scaleTargetRef?: { name: string };
            selector?: { matchLabels: Labels };
          };
          return scaleTargetRef?.name === deployment || selects(selector?.matchLabels ?? {}, metadata.labels);
        });
      expect(own('HorizontalPodAutoscaler')).toHaveLength(1);
      expect(own('PodDisruptionBudget')).toHaveLength(1);
      for (const { labelSelector, matchLabelKeys } of spec.topologySpreadConstraints ?? []) {
        expect(labelSelector.matchLabels).toHaveProperty(['app.kubernetes.io/name']);
        expect(matchLabelKeys).toEqual(['pod-template-hash']);
      }
      expect(spec.topologySpreadConstraints).toHaveLength(2);
      const { strategy, replicas } = manifests.find(
        ({ kind, metadata: one }) => kind === 'Deployment' && one.name === deployment,
      )!.spec as { strategy: object; replicas?: number };
      expect(strategy).toMatchObject({ rollingUpdate: { maxUnavailable: 0 } });
      expect(replicas).toBeUndefined();
    },
  );

  it('keeps the pods of a job that fails, whose logs say why', () => {
    for (const job of named(manifests, 'Job')) expect(podOf(job).spec.restartPolicy).toBe('Never');
  });

  it('lets rollouts wait for the migrations as long as these may take', () => {
    const [job] = named(manifests, 'Job') as unknown as { spec: { activeDeadlineSeconds: number } }[];
    for (const { spec } of named(manifests, 'Deployment'))
      expect(spec?.['progressDeadlineSeconds']).toBeGreaterThan(job!.spec.activeDeadlineSeconds);
  });

  it('selects with every Service existing pods, on a port that they have', () => {
    for (const { metadata, spec } of named(manifests, 'Service')) {
      const { selector, ports } = spec as { selector: Labels; ports: { targetPort: string }[] };
      const meant = deployments.filter(([, pod]) => selects(selector, pod.metadata.labels));
      expect({ service: metadata.name, meant: meant.length }).toEqual({ service: metadata.name, meant: 1 });
      const known = meant[0]![1].spec.containers[0]!.ports?.map((port) => port.name);
      for (const { targetPort } of ports) expect(known).toContain(targetPort);
    }
  });

  it.each(deployments.filter(([workload]) => workload.startsWith('data-exchange-')))(
    'asks for a node where %s has room for the files of workbooks, and allows it as much',
    (_workload, { spec }) => {
      const variable = 'EXCHANGE_SCRATCH_BYTES_MAX';
      const usual = processes['data-exchange']!.find((one) => one.name === variable)!.defaultValue;
      const [config] = named(manifests, 'ConfigMap').filter((one) => one.metadata.name.startsWith('plinth'));
      const mebibytes = Number(config?.data?.[variable] ?? usual) / 1024 ** 2;
      const { requests, limits } = spec.containers[0]!.resources;
      const { emptyDir } = spec.volumes.find((volume) => volume.name === 'tmp')!;
      expect(mebibytesOf(requests['ephemeral-storage']!)).toBeGreaterThanOrEqual(mebibytes);
      expect(mebibytesOf(limits['ephemeral-storage']!)).toBeGreaterThan(mebibytes);
      expect(mebibytesOf(emptyDir!.sizeLimit!)).toBeGreaterThan(mebibytes);
    },
  );

  it('sets addresses only of services that exist', () => {
    const services = named(manifests, 'Service').map(({ metadata }) => metadata.name);
    const config =
      named(manifests, 'ConfigMap').find(({ metadata }) => metadata.name.startsWith('plinth'))?.data ?? {};
    for (const [variable, port] of [
      ['HTTP_SERVICES', ':8080'],
      ['GRPC_SERVICES', ':9090'],
    ] as const) {
      const addresses = (config[variable] ?? '')
        .split(',')
        .map((entry) => entry.split('=')[1]!.replace('http://', ''));
      const behind = discoveredServices().filter(
        (service) =>
          (variable === 'HTTP_SERVICES' ? service.hasHttp : service.hasMain) && service.name !== 'gateway',
      );
      for (const address of addresses) expect(services).toContain(address.replace(port, ''));
      expect(addresses.length).toBeGreaterThanOrEqual(behind.length);
    }
  });

  it.each(deployments)('gives %s every required variable, and no unknown one', (deployment, { spec }) => {
    const service = deployment.replace(/-(main|worker)$/, '');
    const variables = processes[service];
    if (variables === undefined) return;
    const config =
      named(manifests, 'ConfigMap').find(({ metadata }) => metadata.name.startsWith('plinth'))?.data ?? {};
    const given = [
      ...Object.keys(config),
      ...spec.containers[0]!.env.map((one) => one.name.replace(/_FILE$/, '')),
    ];
    const required = variables.filter(({ isRequired }) => isRequired).map((variable) => variable.name);
    expect(given).toEqual(expect.arrayContaining(required));
    const own = spec.containers[0]!.env.map((one) => one.name.replace(/_FILE$/, ''));
    const known = [...variables.map((variable) => variable.name), ...ofTheRuntime];
    expect(own.filter((variable) => !known.includes(variable))).toEqual([]);
  });

  it('gives every process what the configuration says of what it reads, but for its secrets and ports', () => {
    const [configuration] = named(manifests, 'ConfigMap');
    for (const [deployment, { spec }] of deployments) {
      const [{ env, envFrom = [] }] = spec.containers as [Container];
      const names = processes[deployment.replace(/-(main|worker)$/, '')]!.map((variable) => variable.name);
      const keys = env.flatMap(({ valueFrom }) => valueFrom?.configMapKeyRef?.key ?? []);
      const own = env.flatMap((one) => (one.value === undefined ? [] : one.name.replace(/_FILE$/, '')));
      const isRead = envFrom.some(({ configMapRef }) => configMapRef?.name === configuration!.metadata.name);
      const others = names.filter(
        (variable) => own.includes(variable) || !(isRead || keys.includes(variable)),
      );
      const ofPods = /^(ADMIN|GRPC)_PORT$|_KEYS?$|_PASSWORD$|^NATS_USER$|^DATABASE_URL_|REDIS_URL$/;
      expect({ deployment, others: others.filter((variable) => !ofPods.test(variable)) }).toEqual({
        deployment,
        others: [],
      });
    }
  });

  it('gives every process an environment and files that it can be started with', () => {
    const textOf = name === 'dev' ? inRenderedSecrets(manifests) : inDocumentedSecrets;
    const started = workloads(manifests).map((workload) => {
      const { variables, files } = givenToPod(workload, manifests, textOf);
      const environment: Record<string, string> = { NODE_ENV: 'production', ...variables };
      for (const [variable, path] of Object.entries(variables)) {
        if (files[path] === undefined) continue;
        environment[variable] = join(mounts, name, workload.metadata.name, path);
        mkdirSync(dirname(environment[variable]), { recursive: true });
        writeFileSync(environment[variable], `${files[path]}\n`);
      }
      return { workload: workload.metadata.name, container: [imageOf(workload), environment] as const };
    });
    const errors = errorsOf(started.map(({ container }) => container));
    expect(started.map(({ workload }, index) => ({ workload, errors: errors[index] }))).toEqual(
      started.map(({ workload }) => ({ workload, errors: [] })),
    );
  });

  it('mounts every file that a variable names', () => {
    for (const [, { spec }] of ofPods) {
      for (const { env, volumeMounts } of spec.containers) {
        for (const { value = '' } of env.filter((one) => one.name.endsWith('_FILE'))) {
          expect(volumeMounts.some(({ mountPath }) => value.startsWith(`${mountPath}/`))).toBe(true);
        }
      }
    }
  });

  it('has the authorities of the installation in every pod that connects to servers', () => {
    for (const [workload, { spec }] of ofPods) {
      const [authorities] = spec.volumes.filter(({ name }) => name === 'authorities');
      const wanted = { name: 'authorities', configMap: { name: 'plinth-authorities', optional: true } };
      expect(authorities).toEqual(workload.startsWith('pdf-renderer') ? undefined : wanted);
      if (!authorities) continue;
      for (const { volumeMounts } of spec.containers)
        expect(volumeMounts.find(({ name }) => name === 'authorities')?.mountPath).toBe(
          '/var/run/plinth/authorities',
        );
    }
  });

  it('denies all traffic that is not allowed, and the PDF renderer everything', () => {
    const policies = named(manifests, 'NetworkPolicy').map(({ metadata, spec }) => ({
      name: metadata.name,
      ...(spec as {
        podSelector: {
          matchLabels?: Labels;
          matchExpressions?: { key: string; operator: string; values: string[] }[];
        };
        policyTypes: string[];
        egress?: { to: { ipBlock?: { cidr: string; except: string[] } }[]; ports: { port: number }[] }[];
      }),
    }));
    expect(policies).toContainEqual({
      name: 'default-deny',
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
    });
    const rules = policies.flatMap(({ egress = [] }) => egress);
    for (const { to, ports } of rules) {
      expect(ports.length).toBeGreaterThan(0);
      // A peer that is named: whole address families would be the cloud's own services too.
      for (const { ipBlock } of to) expect(ipBlock?.cidr ?? '').not.toMatch(/\/0$/);
      expect(to.length).toBeGreaterThan(0);
    }
    const [, { metadata, spec }] = deployments.find(([one]) => one === 'pdf-renderer-main')!;
    const ofRenderer = policies.filter(({ podSelector: { matchLabels = {}, matchExpressions = [] } }) =>
      [
        Object.entries(matchLabels).every(([key, value]) => metadata.labels[key] === value),
        ...matchExpressions.map(
          ({ key, operator, values }) => values.includes(metadata.labels[key] ?? '') === (operator === 'In'),
        ),
      ].every(Boolean),
    );
    expect(ofRenderer.map((policy) => policy.name).sort()).toEqual([
      'default-deny',
      'metrics',
      'pdf-renderer',
    ]);
    expect(ofRenderer.flatMap(({ egress = [] }) => egress)).toEqual([]);
    const [container] = spec.containers;
    expect(container?.envFrom ?? []).toEqual([]);
    const own = container?.env.filter(({ value }) => value !== undefined).map((one) => one.name);
    expect(own?.sort()).toEqual(['NODE_OPTIONS', 'PDF_RENDERER_KEYS_FILE']);
    expect(spec.volumes.flatMap(({ secret }) => secret?.secretName ?? [])).toEqual([
      expect.stringContaining('pdf-renderer-keys'),
    ]);
  });

  it(
    name === 'dev' ? 'contains its secrets' : 'contains no secret, and nothing that is for development only',
    () => {
      const wanted = ofPods.flatMap(([, { spec }]) =>
        spec.volumes.flatMap(({ secret }) => secret?.secretName ?? []),
      );
      const secrets = named(manifests, 'Secret').map(({ metadata }) => metadata.name);
      const config =
        named(manifests, 'ConfigMap').find(({ metadata }) => metadata.name.startsWith('plinth'))?.data ?? {};
      if (name === 'dev') return expect(new Set(secrets)).toEqual(new Set(wanted));
      expect(secrets).toEqual([]);
      expect(config).toMatchObject({ NODE_ENV: 'production' });
      expect(config).not.toHaveProperty('DEV_ISSUER');
      const readme = readFileSync(join(root, 'k8s/README.md'), 'utf8');
      for (const secret of new Set(wanted)) expect(readme).toContain(`\`${secret}\``);
    },
  );
});

/** How the launcher starts a process. */
const startOfProcess = (workload: string) =>
  discoverServices()
    .flatMap((service) => serviceProcesses(service, {}, {}))
    .find(({ name }) => name === workload)!;

/** Where the files of containers are, as if they were mounted. */
const mounts = mkdtempSync(join(tmpdir(), 'plinth-mounts-'));
afterAll(() => rmSync(mounts, { recursive: true }));

/** Something usable for each key that k8s/README.md wants a Secret to have. */
function inDocumentedSecrets(secret: string, key: string): string | undefined {
  const readme = readFileSync(join(root, 'k8s/README.md'), 'utf8');
  const [, keys = ''] = new RegExp(`^\\| \`${secret}\` *\\| ([^|]*)\\|`, 'm').exec(readme) ?? [];
  if (!keys.includes(`\`${key}\``)) return undefined;
  const random = 'Zx8rQm1vTb6nLw3kPc9yHd2fJg7sAe5u';
  if (key !== 'url') return random;
  return secret === 'gateway-redis'
    ? `rediss://:${random}@redis.data:6379`
    : `postgres://plinth:${random}@postgres.data/plinth?sslmode=verify-full`;
}

const ofTheAllocator = ['MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_'];
const ofTheRuntime = ['NODE_OPTIONS', 'TZ', ...ofTheAllocator, 'AWS_SHARED_CREDENTIALS', 'CURSOR_KEYS'];

const processes: Record<string, { name: string; isRequired: boolean; defaultValue?: string }[]> = JSON.parse(
  execFileSync(
    join(root, 'node_modules/.bin/node'),
    ['tools/release/configuration/configuration.ts', '--json'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  ),
);

describe('the monitoring component', () => {
  if (monitoring === undefined)
    return it.skip('is not tested: there is neither kubectl nor kustomize', () => {});

  it('is part of no overlay, since it needs custom resources', () => {
    expect(new Set(monitoring.map(({ kind }) => kind))).toEqual(
      new Set(['ConfigMap', 'PrometheusRule', 'ServiceMonitor']),
    );
    for (const manifests of Object.values(overlays)) {
      expect(manifests?.filter(({ apiVersion }) => apiVersion.startsWith('monitoring.'))).toEqual([]);
    }
  });

  it('scrapes the metrics of every process', () => {
    const [monitor] = named(monitoring, 'ServiceMonitor');
    const { selector, endpoints, jobLabel } = monitor!.spec as {
      selector: { matchLabels: Labels };
      jobLabel: string;
      endpoints: { port: string }[];
    };
    const services = named(overlays.production ?? [], 'Service').filter(({ metadata }) =>
      selects(selector.matchLabels, metadata.labels ?? {}),
    );
    expect(services).toHaveLength(named(overlays.production ?? [], 'Deployment').length);
    for (const { spec, metadata } of services) {
      const { ports } = spec as { ports: { name: string }[] };
      expect(ports.map((port) => port.name)).toContain(endpoints[0]?.port);
      // Their job, by which alerts know them; the operator makes it the name of the Service where this label is missing.
      expect(metadata.labels?.[jobLabel]).toBe('plinth');
    }
  });
});

it('the manifests have no folder that is in no overlay or component', () => {
  const folders = readdirSync(join(root, 'k8s/base'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const list = readFileSync(join(root, 'k8s/base/kustomization.yaml'), 'utf8');
  for (const { name } of folders) expect(list).toContain(`- ${name}\n`);
});
