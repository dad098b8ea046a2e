import {
  containerOf,
  isAutoscaler,
  isPublicDoor,
  isWorkload,
  nodeOptionsOf,
  serviceOfImage,
  type Manifest,
} from './manifest.ts';
import { toYaml } from './to-yaml.ts';

/** What an installation of the chart may decide; `k8s/base` has the defaults. */
export interface Values {
  image: { repository: string; tag: string };
  images: Record<string, string>;
  configuration: Record<string, string>;
  secrets: Record<string, Record<string, string>>;
  replicas: { min: number; max: number };
  workloads: Record<
    string,
    { resources: object; nodeOptions: string; replicas: object; serviceAccountAnnotations: object }
  >;
  ingress: {
    enabled: boolean;
    className: string;
    host: string;
    tlsSecret: string;
    annotations: Record<string, string>;
    namespace: string;
  };
  egress: Record<string, object[]>;
  monitoring: { enabled: boolean; namespace: string };
}

/** Namespaces whose pods the network policies of `k8s/base` let in. */
export const INGRESS_NAMESPACE = 'ingress-nginx';
export const MONITORING_NAMESPACE = 'monitoring';

const comments: Record<keyof Values, string> = {
  image: 'Where your images are, as REPOSITORY/settings:TAG; without a tag it is the version of the chart.',
  images:
    'Images of single services by their whole names; a digest is better than a tag: settings: registry.example/plinth/settings@sha256:…',
  configuration:
    'What processes read (docs/configuration.md), as texts, but for secrets and ports. A change restarts the pods, one after the other.',
  secrets:
    'Secrets that the chart makes, for trying it out: name: { key: text }. For real data make them yourself; NOTES lists them.',
  replicas: 'How many pods each process has, by its load.',
  workloads:
    'What single processes have: resources, with nodeOptions for the part of the memory that objects take; other replicas ({ min: 3, max: 20 }); annotations of the service account.',
  ingress:
    'The public address. `namespace` is that of the ingress controller, from which the gateway is reached.',
  egress:
    'Rules that are added to network policies, for servers outside of the cluster; that of PostgreSQL is for stores and migrate: stores: [{ to: [{ ipBlock: { cidr: 10.20.30.40/32 } }], ports: [{ protocol: TCP, port: 5432 }] }]',
  monitoring:
    'Alerts, service monitor and dashboard, for the Prometheus operator; `namespace` is from where metrics are read, and where traces go.',
};

/**
 * The values that make the chart render the given objects.
 * @param manifests what kustomize renders for the base or an overlay
 * @param appVersion the version that images have by default
 */
export function valuesOf(manifests: readonly Manifest[], appVersion: string): Values {
  const workloads = manifests.filter(isWorkload);
  const autoscalers = manifests.filter(isAutoscaler).map(({ spec }) => spec);
  const images = workloads.map((workload) => containerOf(workload).image);
  const repository = images[0]!.replace(/\/[^/]+$/, '');
  const door = manifests.find(isPublicDoor);
  if (door === undefined) throw new Error('There is no Ingress.');
  const { minReplicas: min, maxReplicas: max } = autoscalers[0]!;
  return {
    image: { repository, tag: '' },
    images: Object.fromEntries(
      images
        .map((image) => [serviceOfImage(image), image] as const)
        .filter(([service, image]) => image !== `${repository}/${service}:${appVersion}`),
    ),
    configuration: manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {},
    secrets: Object.fromEntries(
      manifests
        .filter(({ kind }) => kind === 'Secret')
        .map(({ metadata, data = {} }) => [nameWithoutHash(metadata.name), decoded(data)]),
    ),
    replicas: { min, max },
    workloads: Object.fromEntries(
      workloads.map((workload) => {
        const own = autoscalers.find(({ scaleTargetRef }) => scaleTargetRef.name === workload.metadata.name);
        const isOther = own !== undefined && (own.minReplicas !== min || own.maxReplicas !== max);
        return [
          workload.metadata.name,
          {
            resources: containerOf(workload).resources,
            nodeOptions: nodeOptionsOf(containerOf(workload))?.value ?? '',
            replicas: isOther ? { min: own.minReplicas, max: own.maxReplicas } : {},
            serviceAccountAnnotations: {},
          },
        ];
      }),
    ),
    ingress: {
      enabled: true,
      className: door.spec.ingressClassName,
      host: door.spec.rules[0]!.host,
      tlsSecret: door.spec.tls[0]!.secretName,
      annotations: door.metadata.annotations ?? {},
      namespace: INGRESS_NAMESPACE,
    },
    egress: {},
    monitoring: { enabled: false, namespace: MONITORING_NAMESPACE },
  };
}

/** What kustomize calls what it generates, without the hash of the contents. */
const nameWithoutHash = (name: string): string => name.replace(/-[a-z0-9]{10}$/, '');

const decoded = (data: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );

/** What must be said so that defaults become what is wanted. */
export function difference(wanted: object, defaults: object): Record<string, unknown> {
  const known = defaults as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(wanted).flatMap(([key, value]): [string, unknown][] => {
      if (!isMap(value) || !isMap(known[key])) return isSame(value, known[key]) ? [] : [[key, value]];
      const inner = difference(value, known[key]);
      return Object.keys(inner).length === 0 ? [] : [[key, inner]];
    }),
  );
}

const isMap = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** A file of values, with what each part is for. */
export const valuesFile = (values: Partial<Values> | Record<string, unknown>): string =>
  Object.entries(values)
    .map(([name, value]) => `# ${comments[name as keyof Values]}\n${toYaml({ [name]: value })}`)
    .join('\n');

/**
 * The JSON schema of the values: a misspelt name is refused before anything is installed.
 * @param defaults
 * @param variables that the configuration takes
 */
export function valuesSchema(defaults: Values, variables: readonly string[]): object {
  const text = { type: 'string' };
  const texts = { type: 'object', additionalProperties: text };
  const map = { type: 'object' };
  const replicas = closed({ min: { type: 'integer', minimum: 1 }, max: { type: 'integer', minimum: 1 } });
  const flag = { type: 'boolean' };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...closed({
      // Helm's own.
      global: map,
      image: closed({ repository: text, tag: text }),
      images: closed(
        Object.fromEntries(
          Object.keys(defaults.workloads).map((name) => [name.replace(/-(main|worker)$/, ''), text]),
        ),
      ),
      configuration: closed(Object.fromEntries(variables.map((name) => [name, text]))),
      secrets: { type: 'object', additionalProperties: texts },
      replicas,
      workloads: closed(
        Object.fromEntries(
          Object.keys(defaults.workloads).map((name) => [
            name,
            closed({ resources: map, nodeOptions: text, replicas, serviceAccountAnnotations: texts }),
          ]),
        ),
      ),
      ingress: closed({
        enabled: flag,
        className: text,
        host: text,
        tlsSecret: text,
        annotations: texts,
        namespace: text,
      }),
      egress: { type: 'object', additionalProperties: { type: 'array', items: map } },
      monitoring: closed({ enabled: flag, namespace: text }),
    }),
  };
}

const closed = (properties: object) => ({ type: 'object', additionalProperties: false, properties });
