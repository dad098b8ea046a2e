import { parseAllDocuments } from 'yaml';
import { renderKustomization } from './kustomize';

/** What `k8s/` gives the pod of a process. */
export interface Pod {
  /** Beyond it the kernel ends what runs in the pod. */
  mebibytesMax: number;
  /** The flags of V8 with the size of the heap. */
  nodeOptions: string;
}

interface Deployment {
  kind: string;
  metadata: { name: string };
  spec: { template: { spec: { containers: [Container] } } };
}
interface Container {
  env: { name: string; value?: string }[];
  resources: { limits: { memory: string } };
}

/**
 * The pods of `k8s/` by the name of their process, as `settings` or `data-exchange-worker`; undefined where neither
 * kubectl nor kustomize is installed.
 */
export function podsOfProcesses(): ReadonlyMap<string, Pod> | undefined {
  const yaml = renderKustomization('k8s/base');
  if (yaml === undefined) return undefined;
  const deployments = parseAllDocuments(yaml)
    .map((document) => document.toJS() as Deployment)
    .filter(({ kind }) => kind === 'Deployment');
  return new Map(deployments.map((deployment) => [processOf(deployment), podOf(deployment)]));
}

const processOf = ({ metadata }: Deployment): string => metadata.name.replace(/-main$/, '');

function podOf({ spec }: Deployment): Pod {
  const [{ env, resources }] = spec.template.spec.containers;
  return {
    mebibytesMax: mebibytesOf(resources.limits.memory),
    nodeOptions: env.find(({ name }) => name === 'NODE_OPTIONS')?.value ?? '',
  };
}

/** A quantity of Kubernetes in mebibytes, as 1024 for `1Gi`. */
export const mebibytesOf = (quantity: string): number =>
  parseInt(quantity, 10) * (quantity.endsWith('Gi') ? 1024 : 1);
