/** An object of Kubernetes, as kustomize renders it. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
}

export interface Container {
  name: string;
  image: string;
  resources: object;
  envFrom?: { configMapRef: { name: string } }[];
  env: EnvironmentVariable[];
}

interface EnvironmentVariable {
  name: string;
  value?: string;
  valueFrom?: { configMapKeyRef: { name: string; key: string } };
}

/** What runs pods: a Deployment, or the Job of the migrations. */
export interface Workload extends Manifest {
  spec: {
    template: {
      metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
      spec: { containers: [Container] };
    };
  };
}

export interface Autoscaler extends Manifest {
  spec: { minReplicas: number; maxReplicas: number; scaleTargetRef: { name: string } };
}

export interface PublicDoor extends Manifest {
  spec: {
    ingressClassName: string;
    tls: { hosts: string[]; secretName: string }[];
    rules: { host: string }[];
  };
}

export const isWorkload = (manifest: Manifest): manifest is Workload =>
  manifest.kind === 'Deployment' || manifest.kind === 'Job';
export const isDeployment = (manifest: Manifest): manifest is Workload => manifest.kind === 'Deployment';
export const isAutoscaler = (manifest: Manifest): manifest is Autoscaler =>
  manifest.kind === 'HorizontalPodAutoscaler';
export const isPublicDoor = (manifest: Manifest): manifest is PublicDoor => manifest.kind === 'Ingress';

/** The only container that a pod of ours has. */
export const containerOf = (workload: Workload): Container => workload.spec.template.spec.containers[0];

/** The flags of Node.js that a container is started with, which are as large as its memory. */
export const nodeOptionsOf = ({ env }: Container): EnvironmentVariable | undefined =>
  env.find(({ name }) => name === 'NODE_OPTIONS');

/** What an image is called without its registry and its tag, as `settings`. */
export const serviceOfImage = (image: string): string => /([^/:@]+)[:@][^/]+$/.exec(image)?.[1] ?? image;
