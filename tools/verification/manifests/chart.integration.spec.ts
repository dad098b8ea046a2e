import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../release/chart/manifest';
import { imageOf, variablesOf } from '../../release/images/given-to-pod';
import { renderManifests } from './render-manifests';

const root = join(__dirname, '../../..');
const helm = findOrInstall('helm');
const overlays = {
  dev: renderManifests('k8s/overlays/dev'),
  production: renderManifests('k8s/overlays/production'),
};
const isTested = helm !== undefined && overlays.production !== undefined;

let chart: string;

const variablesByService: Record<string, { name: string }[]> = JSON.parse(
  execFileSync(
    join(root, 'node_modules/.bin/node'),
    ['tools/release/configuration/configuration.ts', '--json'],
    { cwd: root, encoding: 'utf8' },
  ),
);

/** What Helm would install, or why it refuses. */
function template(...options: string[]): { manifests: Manifest[]; said: string } {
  const args = ['template', 'plinth', chart, '--namespace', 'plinth', ...options];
  const { status, stdout, stderr } = spawnSync(helm!, args, { encoding: 'utf8' });
  const documents = status === 0 ? parseAllDocuments(stdout).map((document) => document.toJS()) : [];
  return { manifests: documents.filter((manifest) => manifest !== null), said: stderr };
}

const generated = ['ConfigMap', 'Secret'];

/** Without the hashes that kustomize adds to names of what it generates. */
function withoutHashes(manifests: readonly Manifest[]): Manifest[] {
  let text = JSON.stringify(manifests);
  for (const { kind, metadata } of manifests) {
    const name = metadata.name.replace(/-[a-z0-9]{10}$/, '');
    if (generated.includes(kind)) text = text.replaceAll(`"${metadata.name}"`, `"${name}"`);
  }
  return JSON.parse(text);
}

/** Without what Helm adds so that a change of the configuration or of the version is noticed. */
const withoutNotices = (manifests: readonly Manifest[]): Manifest[] =>
  JSON.parse(
    JSON.stringify(manifests)
      .replace(/"migrate-[0-9a-f]{8}-\d+"/g, '"migrate"')
      .replace(/,"annotations":\{"checksum\/configuration":"[0-9a-f]{64}"\}/g, ''),
  );

/** In one order, and Secrets without the line breaks that YAML has in long texts. */
const inOrder = (manifests: readonly Manifest[]): Record<string, Manifest> =>
  Object.fromEntries(
    manifests
      .map((manifest) => [
        `${manifest.kind} ${manifest.metadata.name}`,
        manifest.kind === 'Secret' ? JSON.parse(JSON.stringify(manifest).replaceAll('\\n', '')) : manifest,
      ])
      .sort(),
  );

interface Found {
  metadata: { name: string; annotations?: object };
  data: object;
  spec: {
    template: {
      metadata: { annotations?: object };
      spec: { containers: [{ image: string; resources: { limits: object }; env: object[] }] };
    };
    ingress: [{ from: [{ namespaceSelector: { matchLabels: object } }] }];
    egress: object[];
  };
}

const find = (manifests: readonly Manifest[], kind: string, name: string) =>
  manifests.find(
    (manifest) => manifest.kind === kind && manifest.metadata.name.startsWith(name),
  ) as unknown as Found;

(isTested ? describe : describe.skip)('the Helm chart', () => {
  beforeAll(() => {
    chart = mkdtempSync(join(tmpdir(), 'plinth-chart-'));
    const node = join(root, 'node_modules/.bin/node');
    execFileSync(node, ['tools/release/chart/main.ts', chart], { cwd: root });
  });
  afterAll(() => rmSync(chart, { recursive: true, force: true }));

  it.each(Object.entries(overlays))(
    'renders with values-%s.yaml what kustomize renders for the overlay',
    (name, manifests) => {
      const wanted = manifests!.filter(({ kind }) => kind !== 'Namespace');
      const [namespace] = new Set(wanted.map(({ metadata }) => metadata.namespace!));

      const rendered = template('--values', join(chart, `values-${name}.yaml`), '--namespace', namespace!);

      expect(rendered.said).toBe('');
      expect(inOrder(withoutNotices(rendered.manifests))).toEqual(inOrder(withoutHashes(wanted)));
    },
  );

  it('is well-formed to the eyes of Helm', () => {
    const { status, stdout } = spawnSync(helm!, ['lint', '--strict', '--quiet', chart], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });

  it('gives what the configuration says to every process that reads it', () => {
    const { properties } = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')).properties
      .configuration;
    const configuration = Object.fromEntries(
      Object.keys(properties).map((name) => [name, `as ${name} says`]),
    );
    const values = join(chart, 'all-variables.json');
    writeFileSync(values, JSON.stringify({ configuration }));

    const { manifests, said } = template('--values', values);

    expect(said).toBe('');
    const taken: string[] = [];
    const lost: string[] = [];
    for (const deployment of manifests.filter(({ kind }) => kind === 'Deployment')) {
      const given = variablesOf(deployment, manifests);
      for (const { name } of variablesByService[imageOf(deployment)]!) {
        const [value, file] = [configuration[name], configuration[`${name}_FILE`]];
        if (value !== undefined) taken.push(name);
        // Where a file is named, too, it wins.
        const isLost = (value !== undefined && given[name] !== value) || given[`${name}_FILE`] !== file;
        if ((value ?? file) !== undefined && isLost) lost.push(`${deployment.metadata.name} ${name}`);
      }
    }
    expect(lost).toEqual([]);
    const ofPods = /_PORT$|_KEYS?$|_PASSWORD$|^NATS_USER$|^DATABASE_URL_|REDIS_URL$/;
    const read = Object.values(variablesByService).flatMap((variables) => variables.map(({ name }) => name));
    expect(new Set(taken)).toEqual(new Set(read.filter((name) => !ofPods.test(name))));
  });

  it('restarts the pods when the configuration changes that they read', () => {
    const [before, after] = [template(), template('--set-string', 'configuration.CONNECTIONS_MAX=99')];
    const annotation = ({ manifests }: typeof before, name: string) =>
      find(manifests, 'Deployment', name).spec.template.metadata.annotations;
    expect(after.said).toBe('');
    expect(annotation(after, 'gateway-main')).not.toEqual(annotation(before, 'gateway-main'));
    expect(annotation(after, 'pdf-renderer-main')).toEqual(annotation(before, 'pdf-renderer-main'));
    const pages = template('--set-string', 'configuration.PDF_PAGES=6');
    expect(annotation(pages, 'pdf-renderer-main')).not.toEqual(annotation(before, 'pdf-renderer-main'));
    expect(find(pages.manifests, 'ConfigMap', 'plinth').data).toMatchObject({ PDF_PAGES: '6' });
  });

  it('migrates again with another image', () => {
    const job = (...options: string[]) => find(template(...options).manifests, 'Job', 'migrate');
    const [first, second] = [job(), job('--set', 'image.tag=0.2.0')];
    expect(first.spec.template.spec.containers[0].image).toBe('plinth/migrate:0.1.0');
    expect(second.spec.template.spec.containers[0].image).toBe('plinth/migrate:0.2.0');
    expect(second.metadata.name).not.toBe(first.metadata.name);
  });

  it('lets an installation decide what differs between clusters', () => {
    const digest = `registry.example/settings@sha256:${'a'.repeat(64)}`;
    const block = { to: [{ ipBlock: { cidr: '10.20.30.40/32' } }], ports: [{ protocol: 'TCP', port: 6432 }] };
    const role = { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::123456789012:role/files' };
    const { manifests, said } = template(
      ...['--set', `images.settings=${digest}`],
      ...['--set-json', `egress.stores=${JSON.stringify([block])}`],
      ...['--set-json', `workloads.timeline-main.serviceAccountAnnotations=${JSON.stringify(role)}`],
      ...['--set-json', 'workloads.workflow-worker.replicas={"max":3}'],
      ...['--set', 'workloads.template-main.resources.limits.cpu=4'],
      ...['--set', 'workloads.workflow-worker.nodeOptions=--max-old-space-size=224'],
      ...['--set', 'ingress.namespace=traefik', '--set', 'ingress.enabled=false'],
      ...['--set-string', 'configuration.TEMPORAL_CA_FILE=/var/run/plinth/authorities/ca.pem'],
    );

    expect(said).toBe('');
    expect(find(manifests, 'ConfigMap', 'plinth').data).toHaveProperty('TEMPORAL_CA_FILE');
    const pod = (name: string) => find(manifests, 'Deployment', name).spec.template.spec.containers[0];
    expect(pod('settings-main').image).toBe(digest);
    expect(pod('template-main').resources.limits).toMatchObject({ cpu: 4, memory: '1Gi' });
    expect(pod('workflow-worker').env).toContainEqual({
      name: 'NODE_OPTIONS',
      value: '--max-old-space-size=224',
    });
    expect(find(manifests, 'NetworkPolicy', 'stores').spec.egress.at(-1)).toEqual(block);
    expect(find(manifests, 'ServiceAccount', 'timeline-main').metadata.annotations).toEqual(role);
    expect(find(manifests, 'HorizontalPodAutoscaler', 'workflow-worker').spec).toMatchObject({
      minReplicas: 2,
      maxReplicas: 3,
    });
    expect(find(manifests, 'Ingress', '')).toBeUndefined();
    const [{ from }] = find(manifests, 'NetworkPolicy', 'gateway').spec.ingress;
    expect(from[0].namespaceSelector.matchLabels).toEqual({ 'kubernetes.io/metadata.name': 'traefik' });
  });

  it('brings alerts and dashboard where they are wanted', () => {
    const kinds = (manifests: readonly Manifest[]) =>
      manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const wanted = renderManifests('k8s/components/monitoring')!;
    const without = kinds(template().manifests);

    const { manifests } = template('--set', 'monitoring.enabled=true');

    expect(
      kinds(manifests)
        .filter((kind) => !without.includes(kind))
        .sort(),
    ).toEqual(kinds(wanted).sort());
    expect(find(manifests, 'PrometheusRule', 'plinth').spec).toEqual(
      find(wanted, 'PrometheusRule', 'plinth').spec,
    );
  });

  it.each([
    ['a variable that nobody reads', 'configuration.NATS_ADDRESS=tls://nats:4222'],
    ['a variable that is no text', 'configuration.DRAIN_SECONDS=9'],
    ['a secret, which belongs into a file', 'configuration.IDEMPOTENCY_REDIS_URL=rediss://:a@redis:6379'],
    ['a port that the pods do not listen on', 'configuration.ADMIN_PORT_FILE=/tmp/port'],
    ['a file where the process has none', 'configuration.PDF_PAGES_FILE=/var/run/plinth/authorities/pages'],
    ['a workload that is not there', 'workloads.printer-main.replicas.max=3'],
    ['another word for the images', 'imagge.tag=0.2.0'],
  ])('refuses %s', (_what, value) => {
    expect(template('--set', value).said).toMatch(/values don't meet the specifications of the schema/);
  });

  it('says after an installation which Secrets are still to be made', () => {
    const readme = readFileSync(join(root, 'k8s/README.md'), 'utf8');
    const secrets = [...readme.matchAll(/^\| `([\w-]+)` +\|/gm)].map(([, name]) => name!);
    const args = ['install', 'plinth', chart, '--dry-run=client', '--namespace', 'plinth'];
    const notes = execFileSync(helm!, args, { encoding: 'utf8' }).split('NOTES:')[1]!;
    expect(secrets.filter((name) => !notes.includes(`  ${name}\n`))).toEqual([]);
  });
});
