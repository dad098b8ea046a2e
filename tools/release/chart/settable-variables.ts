import { containerOf, isDeployment, serviceOfImage, type Container, type Manifest } from './manifest.ts';

/** What Node.js and the SDK of S3 read, by a variable of whoever does so. */
const readBeside: Record<string, string> = {
  AWS_REGION: 'BLOB_URL',
  NODE_EXTRA_CA_CERTS: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  OTEL_EXPORTER_OTLP_HEADERS: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  TZ: 'LOG_LEVEL',
};

/** They are in the ports of the containers. */
const isPort = (name: string) => /^(HTTP|GRPC|ADMIN)_PORT$/.test(name);

/** As files they may be named: of a Secret that is mounted. */
const isSecret = (name: string) => /(_KEYS?|_PASSWORD|REDIS_URL)$|^DATABASE_URL_/.test(name);

/**
 * The variables that the configuration of an installation takes: those that reach every process that reads them. Others
 * are said by the pods themselves, or are secrets.
 * @param variables by the services that read them
 * @param manifests with the Deployments of the services
 */
export function settableVariables(
  variables: Readonly<Record<string, readonly string[]>>,
  manifests: readonly Manifest[],
): string[] {
  const containers = manifests.filter(isDeployment).map(containerOf);
  const reads = ({ image }: Container, name: string) =>
    variables[serviceOfImage(image)]?.includes(name) ?? false;
  const isSettable = (variable: string, name: string, readers = name) =>
    containers
      .filter((container) => reads(container, readers))
      .every((container) => isGiven(container, variable, name));
  const ofServices = [...new Set(Object.values(variables).flat())].filter((name) => !isPort(name));
  return [
    ...ofServices.filter((name) => !isSecret(name) && isSettable(name, name)),
    ...ofServices.filter((name) => isSettable(`${name}_FILE`, name)).map((name) => `${name}_FILE`),
    ...Object.keys(readBeside).filter((name) => isSettable(name, name, readBeside[name])),
  ].sort();
}

/** Whether a container takes a variable from the configuration: what it says itself of this one, or of its file, wins. */
function isGiven({ env, envFrom }: Container, variable: string, name: string): boolean {
  const isOwn = env.some((one) => one.value !== undefined && [name, `${name}_FILE`].includes(one.name));
  const isTaken = (envFrom ?? []).length > 0 || env.some((one) => one.name === variable);
  return isTaken && !isOwn;
}
