import {
  containerOf,
  isAutoscaler,
  isPublicDoor,
  isWorkload,
  nodeOptionsOf,
  serviceOfImage,
  type Manifest,
  type Workload,
} from './manifest.ts';
import { toYaml } from './to-yaml.ts';
import { INGRESS_NAMESPACE, MONITORING_NAMESPACE } from './values.ts';

/** What the templates share. */
export const helpers = `{{- define "plinth.image" -}}
{{- $standard := printf "%s/%s:%s" .root.Values.image.repository .service (.root.Values.image.tag | default .root.Chart.AppVersion) -}}
{{- index .root.Values.images .service | default $standard -}}
{{- end }}

{{- define "plinth.replicas" -}}
{{- $own := (index .root.Values.workloads .workload).replicas | default dict -}}
{{- index (merge (dict) $own .root.Values.replicas) .bound -}}
{{- end }}
`;

const configuration = `apiVersion: v1
kind: ConfigMap
metadata:
  name: plinth
  namespace: {{ .Release.Namespace }}
  labels:
    app.kubernetes.io/part-of: plinth
data:
  {{- range $name, $value := .Values.configuration }}
  {{ $name }}: {{ $value | quote }}
  {{- end }}
`;

const secrets = `{{- range $name, $entries := .Values.secrets }}
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ $name }}
  namespace: {{ $.Release.Namespace }}
type: Opaque
data:
  {{- range $key, $value := $entries }}
  {{ $key }}: {{ $value | b64enc }}
  {{- end }}
{{- end }}
`;

const monitoring = `{{- if .Values.monitoring.enabled }}
{{ .Files.Get "monitoring.yaml" }}
{{- end }}
`;

/**
 * The templates of the chart by their names: the objects of kustomize, with expressions in place of what the values
 * decide.
 */
export function templatesOf(manifests: readonly Manifest[]): Record<string, string> {
  const files: Record<string, string> = {
    '_helpers.tpl': helpers,
    'configuration.yaml': configuration,
    'secrets.yaml': secrets,
    'monitoring.yaml': monitoring,
  };
  for (const manifest of manifests.filter(({ kind }) => kind !== 'ConfigMap')) {
    const file = fileOf(manifest);
    files[file] = `${files[file] === undefined ? '' : `${files[file]}---\n`}${template(manifest)}`;
  }
  return files;
}

/** What belongs to one service is in one file. */
function fileOf({ kind, metadata }: Manifest): string {
  if (kind === 'NetworkPolicy') return 'network-policies.yaml';
  return `${metadata.labels?.['app.kubernetes.io/name'] ?? metadata.name}.yaml`;
}

function template(manifest: Manifest): string {
  const places = new Places();
  const copy: Manifest = structuredClone(manifest);
  copy.metadata.namespace = places.value('.Release.Namespace');
  if (isWorkload(copy)) templateWorkload(copy, places);
  if (copy.kind === 'ServiceAccount') {
    const annotations = `(index .Values.workloads "${manifest.metadata.name}").serviceAccountAnnotations`;
    Object.assign(copy.metadata, { annotations: places.optional(annotations) });
  }
  if (isAutoscaler(copy)) {
    const bound = (name: string) =>
      places.value(
        `include "plinth.replicas" (dict "root" . "workload" "${manifest.metadata.name}" "bound" "${name}")`,
      );
    Object.assign(copy.spec, { minReplicas: bound('min'), maxReplicas: bound('max') });
  }
  if (isPublicDoor(copy)) {
    const host = places.value('.Values.ingress.host');
    Object.assign(copy.metadata, { annotations: places.optional('.Values.ingress.annotations') });
    copy.spec.ingressClassName = places.value('.Values.ingress.className');
    copy.spec.tls = [{ hosts: [host], secretName: places.value('.Values.ingress.tlsSecret') }];
    copy.spec.rules[0]!.host = host;
  }
  if (copy.kind === 'NetworkPolicy') templatePolicy(copy, places);
  const text = places.fill(toYaml(copy));
  return isPublicDoor(copy) ? `{{- if .Values.ingress.enabled }}\n${text}{{- end }}\n` : text;
}

function templateWorkload(workload: Workload, places: Places): void {
  const { name } = workload.metadata;
  const container = containerOf(workload);
  const image = `include "plinth.image" (dict "root" . "service" "${serviceOfImage(container.image)}")`;
  const resources = `(index .Values.workloads "${name}").resources`;
  Object.assign(container, { image: places.value(image), resources: places.block(resources) });
  const options = nodeOptionsOf(container);
  const nodeOptions = `(index .Values.workloads "${name}").nodeOptions`;
  if (options) options.value = places.value(`${nodeOptions} | quote`);
  // A job cannot be changed: other pods are another job, and so is each installation that Helm counts.
  if (workload.kind === 'Job')
    workload.metadata.name = `${name}-${places.value(`list (${image}) ${resources} ${nodeOptions} .Chart.Version | toJson | sha256sum | trunc 8`)}-${places.value('.Release.Revision')}`;
  const sources = (container.envFrom ?? []).map(({ configMapRef }) => configMapRef);
  const keys = container.env.flatMap(({ valueFrom }) => valueFrom?.configMapKeyRef ?? []);
  for (const source of [...sources, ...keys]) source.name = 'plinth';
  const names = keys.map(({ key }) => JSON.stringify(key)).join(' ');
  if (names === '' && sources.length === 0) return;
  const read = sources.length > 0 ? '.Values.configuration' : `pick .Values.configuration ${names}`;
  workload.spec.template.metadata.annotations = {
    'checksum/configuration': places.value(`${read} | toJson | sha256sum`),
  };
}

function templatePolicy(policy: Manifest, places: Places): void {
  const spec = policy.spec as { policyTypes: string[]; egress?: unknown[] };
  if (spec.egress !== undefined && spec.egress.length > 0)
    spec.egress.push(places.elements(`index .Values.egress "${policy.metadata.name}"`));
  const namespaces: Record<string, string> = {
    [INGRESS_NAMESPACE]: '.Values.ingress.namespace',
    [MONITORING_NAMESPACE]: '.Values.monitoring.namespace',
  };
  policy.spec = JSON.parse(JSON.stringify(spec), (key, value: unknown) =>
    key === 'kubernetes.io/metadata.name' && namespaces[String(value)]
      ? places.value(namespaces[String(value)]!)
      : value,
  );
}

/** Words that YAML leaves as they are stand for expressions of Helm, until the text is whole. */
class Places {
  readonly #places: { kind: 'value' | 'block' | 'optional' | 'elements'; expression: string }[] = [];

  /** One value. */
  value = (expression: string): string => this.#place('value', expression);

  /** A map or a list below its key. */
  block = (expression: string): string => this.#place('block', expression);

  /** A map below its key, and no key where there is nothing. */
  optional = (expression: string): string => this.#place('optional', expression);

  /** More elements of a list, where there are some. */
  elements = (expression: string): string => this.#place('elements', expression);

  fill = (text: string): string =>
    text
      .split('\n')
      .map((line) => this.#fillLine(line))
      .join('\n');

  #place(kind: 'value' | 'block' | 'optional' | 'elements', expression: string): string {
    return `PLACE${this.#places.push({ kind, expression }) - 1}ECALP`;
  }

  #fillLine(line: string): string {
    const [, indentation = '', key = '', index] = /^( *)(?:- |(\w+): )PLACE(\d+)ECALP$/.exec(line) ?? [];
    const { kind, expression } = this.#places[Number(index)] ?? { kind: 'value' };
    const below = indentation.length + 2;
    if (kind === 'block') return `${indentation}${key}: {{- toYaml ${expression} | nindent ${below} }}`;
    if (kind === 'optional')
      return [
        `${indentation}{{- with ${expression} }}`,
        `${indentation}${key}: {{- toYaml . | nindent ${below} }}`,
        `${indentation}{{- end }}`,
      ].join('\n');
    if (kind === 'elements')
      return `${indentation}{{- with ${expression} }}{{ toYaml . | nindent ${indentation.length} }}{{- end }}`;
    return line.replace(
      /PLACE(\d+)ECALP/g,
      (_, place: string) => `{{ ${this.#places[Number(place)]!.expression} }}`,
    );
  }
}
