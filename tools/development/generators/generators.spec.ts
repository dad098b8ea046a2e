import { join } from 'node:path';
import { FsTree } from 'nx/src/generators/tree';
import { ModuleKind, transpileModule } from 'typescript';
import { parse } from 'yaml';

type Generator = (tree: FsTree, options: Record<string, string>) => Promise<unknown>;

// The generators are CommonJS, as Nx loads them.
const endpoint = jest.requireActual<Generator>('./endpoint/generator.cjs');
const service = jest.requireActual<Generator>('./service/generator.cjs');

const root = join(__dirname, '../../..');

// Jest keeps Prettier from being loaded; what is written is formatted where the generators really run.
beforeAll(() => void jest.spyOn(console, 'warn').mockImplementation(() => {}));
afterAll(() => jest.restoreAllMocks());

/** What a generator would change in this project, without changing it. */
async function changesOf(work: (tree: FsTree) => Promise<unknown>) {
  const tree = new FsTree(root, false);
  await work(tree);
  return new Map(tree.listChanges().map(({ path, content }) => [path, content?.toString() ?? '']));
}

const spareParts = (tree: FsTree) => service(tree, { name: 'spare-parts' });

describe('nx g @plinth/generators:service', () => {
  it('creates a service with contract, tables, tests and manifests, and adds it to the lists of services', async () => {
    const changes = await changesOf(spareParts);

    const all = changes.get('libs/contracts/src/all.ts');
    expect(all).toMatch(/'spare-parts': sparePartsEndpoints,[^]*\.\.\.sparePartsProblems,/);
    for (const path of [
      'k8s/base/kustomization.yaml',
      'k8s/components/monitoring/compose/prometheus.yml',
      'docs/events.md',
      'CODEOWNERS',
    ]) {
      expect(changes.get(path)).toContain('spare-parts');
    }
    const compose = parse(changes.get('docker-compose.yml')!, { merge: true });
    expect(compose.services['spare-parts']).toMatchObject({ image: 'plinth/spare-parts:0.1.0' });
    const secured = parse(changes.get('docker-compose.tls.yml')!, { merge: true });
    expect(secured.services['spare-parts'].environment['DATABASE_URL_SPARE_PARTS']).toMatch(
      /\/plinth_spare_parts\?sslmode=verify-full/,
    );
    expect([...changes.keys()]).toEqual(
      expect.arrayContaining([
        'apps/spare-parts/src/main.ts',
        'apps/spare-parts/tsconfig.json',
        'apps/spare-parts/prisma/schema.prisma',
        'apps/spare-parts/test/spare-parts.spec.ts',
        'libs/contracts/src/spare-parts/endpoints.ts',
        'k8s/base/spare-parts/kustomization.yaml',
        'docs/areas/spare-parts.md',
      ]),
    );
    const migration = [...changes].find(([path]) => path.endsWith('migration.sql'))?.[1];
    expect(migration?.match(/FORCE ROW LEVEL SECURITY/g)?.length).toBe(
      migration?.match(/CREATE TABLE/g)?.length,
    );
  });

  it('writes only files that parse, without placeholders', async () => {
    const changes = await changesOf(async (tree) => {
      await spareParts(tree);
      await endpoint(tree, { service: 'spare-parts', name: 'getPrices' });
    });
    for (const [path, content] of changes) {
      expect(`${path} ${content}`).not.toMatch(/<%|%>|__\w+__/);
      if (!path.endsWith('.ts')) continue;
      const { diagnostics } = transpileModule(content, {
        reportDiagnostics: true,
        compilerOptions: { module: ModuleKind.ESNext },
      });
      expect({ path, diagnostics }).toEqual({ path, diagnostics: [] });
    }
  });

  it('adds one service after the other', async () => {
    const changes = await changesOf(async (tree) => {
      await spareParts(tree);
      await service(tree, { name: 'garages' });
    });

    const addresses = /^ {2}GRPC_SERVICES: (.*)$/m.exec(changes.get('docker-compose.yml') ?? '')?.[1];
    expect(addresses).toMatch(/,spare-parts=spare-parts:9090,garages=garages:9090$/);
  });

  it('refuses a service that exists and a name that is not in kebab-case', async () => {
    await expect(changesOf((tree) => service(tree, { name: 'settings' }))).rejects.toThrow(
      'is there already',
    );
    await expect(changesOf((tree) => service(tree, { name: 'Spare Parts' }))).rejects.toThrow('kebab-case');
  });
});

describe('nx g @plinth/generators:endpoint', () => {
  it('extends the contract and adds route, test and documentation', async () => {
    const changes = await changesOf(async (tree) => {
      await spareParts(tree);
      await endpoint(tree, {
        service: 'spare-parts',
        name: 'getPrices',
        permission: 'SpareParts.SpareParts.Read',
      });
    });

    expect(changes.get('libs/contracts/src/spare-parts/endpoints.ts')).toContain(
      "path: '/spare-parts/prices'",
    );
    expect(changes.get('apps/spare-parts/src/app.ts')).toContain('mountPrices(api);');
    expect(changes.get('apps/spare-parts/test/prices.spec.ts')).toContain('GET /spare-parts/prices');
    expect(changes.get('docs/areas/spare-parts.md')).toContain('/api/v1/spare-parts/prices');
  });

  it('refuses an endpoint that exists and a service that does not', async () => {
    const twice = (tree: FsTree) => endpoint(tree, { service: 'settings', name: 'getSettings' });
    await expect(changesOf(twice)).rejects.toThrow('already');
    const nowhere = (tree: FsTree) => endpoint(tree, { service: 'nothing', name: 'getIt' });
    await expect(changesOf(nowhere)).rejects.toThrow('no contract');
  });
});
