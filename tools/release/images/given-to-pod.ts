/** An object of Kubernetes, as far as it says what a container is started with. */
export interface Rendered {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: object;
}

/** What a container gets: variables, and files by their paths. */
export interface Given {
  variables: Record<string, string>;
  files: Record<string, string>;
}

interface Pod {
  containers: [Container];
  volumes: Volume[];
}
interface Container {
  image: string;
  env: { name: string; value?: string; valueFrom?: { configMapKeyRef: { name: string; key: string } } }[];
  envFrom?: { configMapRef: { name: string } }[];
  volumeMounts: { name: string; mountPath: string }[];
}
interface Volume {
  name: string;
  secret?: { secretName: string; items?: { key: string; path: string }[] };
}

const podOf = ({ spec }: Rendered) => (spec as { template: { spec: Pod } }).template.spec;

/** The service whose image a Deployment or a Job runs, or `migrate`. */
export const imageOf = (workload: Rendered): string =>
  /([^/:@]+)[:@][^/]+$/.exec(podOf(workload).containers[0].image)![1]!;

/** The variables that the container of a Deployment or a Job is started with. */
export function variablesOf(workload: Rendered, manifests: readonly Rendered[]): Record<string, string> {
  const [{ env, envFrom = [] }] = podOf(workload).containers;
  const dataOf = (name: string) =>
    manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)?.data ?? {};
  const own = env.flatMap(({ name, value, valueFrom: { configMapKeyRef: from } = {} }) => {
    const text = from ? dataOf(from.name)[from.key] : value;
    return text === undefined ? [] : [[name, text] as const];
  });
  return Object.assign(
    {},
    ...envFrom.map(({ configMapRef }) => dataOf(configMapRef.name)),
    Object.fromEntries(own),
  );
}

/**
 * What the container of a Deployment or a Job is started with, with the files that its variables name.
 * @param workload
 * @param manifests in which its configuration is
 * @param textOf what a Secret has under a key; undefined where it has none, which is an error
 */
export function givenToPod(
  workload: Rendered,
  manifests: readonly Rendered[],
  textOf: (secret: string, key: string) => string | undefined,
): Given {
  const { containers, volumes } = podOf(workload);
  const [{ volumeMounts }] = containers;
  const variables = variablesOf(workload, manifests);
  const paths = Object.entries(variables).flatMap(([name, value]) => (name.endsWith('_FILE') ? [value] : []));
  return { variables, files: Object.fromEntries(paths.map((path) => [path, textAt(path)])) };

  function textAt(path: string): string {
    const mount = volumeMounts.find(({ mountPath }) => path.startsWith(`${mountPath}/`));
    const secret = volumes.find(({ name }) => name === mount?.name)?.secret;
    if (!mount || !secret) throw new Error(`${workload.metadata.name}: no Secret is mounted at ${path}`);
    const file = path.slice(mount.mountPath.length + 1);
    const key = secret.items ? secret.items.find((item) => item.path === file)?.key : file;
    const text = key && textOf(secret.secretName, key);
    if (text === undefined)
      throw new Error(`${workload.metadata.name}: the Secret ${secret.secretName} has no ${file}`);
    return text;
  }
}

/** What the Secrets that are rendered with an overlay have. */
export const inRenderedSecrets =
  (manifests: readonly Rendered[]) =>
  (secret: string, key: string): string | undefined => {
    const found = manifests.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === secret);
    const text = found?.data?.[key];
    return text && Buffer.from(text, 'base64').toString();
  };
