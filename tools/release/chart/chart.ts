import type { Manifest } from './manifest.ts';
import { settableVariables } from './settable-variables.ts';
import { templatesOf } from './templates.ts';
import { toYaml } from './to-yaml.ts';
import { difference, valuesFile, valuesOf, valuesSchema } from './values.ts';

/** What kustomize renders. */
export interface Rendered {
  base: readonly Manifest[];
  /** By the name of the overlay. */
  overlays: Readonly<Record<string, readonly Manifest[]>>;
  /** The component with alerts and dashboard, as text: it has braces of its own. */
  monitoring: string;
}

/**
 * The files of the Helm chart, by their paths in it. Its templates and the defaults of its values come from the base of
 * kustomize; each overlay becomes a file of values, `values-production.yaml`, that makes the chart render the same.
 * @param rendered
 * @param version of the platform
 * @param variables by the services that read them
 */
export function chartFiles(
  rendered: Rendered,
  version: string,
  variables: Readonly<Record<string, readonly string[]>>,
): Record<string, string> {
  const defaults = valuesOf(rendered.base, version);
  const files: Record<string, string> = {
    'Chart.yaml': toYaml({
      apiVersion: 'v2',
      name: 'plinth',
      description:
        'Document templates, localization, data exchange, timeline, settings and workflow behind one HTTP API.',
      type: 'application',
      version,
      appVersion: version,
      // For the pause before a pod ends.
      kubeVersion: '>=1.30.0-0',
    }),
    'values.yaml': valuesFile(defaults),
    'values.schema.json': `${JSON.stringify(valuesSchema(defaults, settableVariables(variables, rendered.base)), null, 2)}\n`,
    'monitoring.yaml': rendered.monitoring,
    'templates/NOTES.txt': notes(rendered.base),
  };
  for (const [name, manifests] of Object.entries(rendered.overlays)) {
    files[`values-${name}.yaml`] = valuesFile(difference(valuesOf(manifests, version), defaults));
  }
  for (const [name, text] of Object.entries(templatesOf(rendered.base))) files[`templates/${name}`] = text;
  return files;
}

/** What is said after an installation: the Secrets that pods wait for. */
function notes(manifests: readonly Manifest[]): string {
  const wanted = [...JSON.stringify(manifests).matchAll(/"secretName":"([^"]+)"/g)].map(([, name]) => name!);
  const ofPods = [...new Set(wanted)].filter((name) => name !== 'plinth-tls').sort();
  return `The pods become ready when these Secrets are there (k8s/README.md says what is in them):
{{- range list ${ofPods.map((name) => JSON.stringify(name)).join(' ')} }}
{{- if not (hasKey $.Values.secrets .) }}
  {{ . }}
{{- end }}
{{- end }}

  kubectl rollout status deployment --namespace {{ .Release.Namespace }} --selector app.kubernetes.io/part-of=plinth
`;
}
