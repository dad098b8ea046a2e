import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const apps = join(__dirname, '../../../apps');

/** The services with tables; the gateway has rooms of its own. */
const services = readdirSync(apps)
  .filter((name) => existsSync(join(apps, name, 'prisma', 'schema.prisma')))
  .map((name) => ({ name, folder: join(apps, name) }));

const requiredFiles = [
  'README.md',
  'project.json',
  'prisma/migrations',
  'src/main.ts',
  'src/config.ts',
  'src/compose.ts',
  'src/app.ts',
  'src/routes',
  'src/domain/problems.ts',
  'src/store',
];

const rooms = ['routes', 'app', 'domain', 'store', 'events', 'exchange', 'grpc', 'temporal', 'generated'];
const programs = ['main.ts', 'worker.ts', 'config.ts', 'compose.ts', 'app.ts', 'background.ts'];
const crafts: Record<string, string[]> = {
  template: ['render', 'gallery', 'sandbox.ts'],
  localization: ['resources'],
  'data-exchange': ['formats'],
};

/** What wakes open streams is broadcast: it is no event of the outbox. */
const eventFiles: Record<string, string[]> = {
  timeline: ['wake-signal.ts'],
};

/** Tables of a version before, whose rows are in `executed_operation` by now; they stay while such a version may run. */
const formerTables = ['operation', 'override_operation'];

const SQL = /\b(SELECT [\w*(]|INSERT INTO|UPDATE \w+\s+SET|DELETE FROM)/;
const DATABASE = /\$(query|execute)Raw|from '(pg|pg-copy-streams|@prisma\/[\w-]+)'/;

const pascal = (name: string) =>
  name.replace(/(^|-)(\w)/g, (_, _dash, letter: string) => letter.toUpperCase());
const read = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8');
/** Without the statement by which a health check reaches the database. */
const withoutPing = (source: string) => source.replaceAll("'SELECT 1'", '');
const list = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);

/** The sources of a service that are written by hand, without its specs. */
function sourcesOf(folder: string): string[] {
  return readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts') && !path.startsWith('generated'))
    .sort();
}

const sourcesMatching = (folder: string, pattern: RegExp, rooms: RegExp) =>
  sourcesOf(folder).filter(
    (path) => !rooms.test(path) && pattern.test(withoutPing(read(folder, `src/${path}`))),
  );

/** What `main.ts` is, whatever the service is called; gRPC and background work are there or not. */
function mainOf({ name, folder }: (typeof services)[number]): string {
  const hasGrpc = existsSync(join(folder, 'src/grpc/server.ts'));
  const hasBackground = existsSync(join(folder, 'src/background.ts'));
  return `import { serveService } from '@plinth/http/serve';
import { loadConfig } from '@plinth/runtime/process/config';
import { runProcess } from '@plinth/runtime/process/lifecycle';
import { createLog } from '@plinth/runtime/process/log';
import { startTracing } from '@plinth/runtime/process/tracing';
import { createApp } from './app';
${hasBackground ? `import { startBackground } from './background';\n` : ''}import { compose } from './compose';
import { ${pascal(name)}Config } from './config';
${hasGrpc ? `import { grpcServices } from './grpc/server';\n` : ''}
const config = loadConfig(${pascal(name)}Config, process.env);
const log = createLog(config, '${name}');

runProcess(log, async (onClose) => {
  onClose(await startTracing(config, '${name}', log));
  const deps = await compose(config, log, onClose);
${hasBackground ? '  await startBackground(deps, onClose);\n' : ''}  await serveService(createApp(deps), ${hasGrpc ? 'grpcServices(deps)' : '[]'}, deps, onClose);
});
`;
}

describe.each(services)('the service $name', (service) => {
  const { name, folder } = service;

  it('has the files that every service has', () => {
    expect(requiredFiles.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
  });

  it('has a main.ts that differs from those of other services in nouns only', () => {
    expect(read(folder, 'src/main.ts')).toBe(mainOf(service));
  });

  it('has no rooms but those of every service, and at most one craft', () => {
    const allowed = [...rooms, ...programs, ...(crafts[name] ?? [])];
    expect(list(join(folder, 'src')).filter((entry) => !allowed.includes(entry))).toEqual([]);
  });

  it('has handlers in routes/, each mounted by app.ts, and responses made from rows', () => {
    const app = read(folder, 'src/app.ts');
    const isKnown = (file: string) =>
      /-response(\.spec)?\.ts$/.test(file) || app.includes(`'./routes/${file.replace(/\.ts$/, '')}'`);
    expect(list(join(folder, 'src/routes')).filter((file) => !isKnown(file))).toEqual([]);
  });

  it('names its endpoints once at the top of each file of handlers', () => {
    expect(sourcesMatching(folder, /\w+Endpoints\.\w+/, /^app\.ts$/)).toEqual([]);
  });

  it('publishes in events/published.ts and subscribes in events/subscriptions.ts', () => {
    const allowed = ['published.ts', 'subscriptions.ts', ...(eventFiles[name] ?? [])];
    const sources = list(join(folder, 'src/events')).filter((file) => !file.endsWith('.spec.ts'));
    expect(sources.filter((file) => !allowed.includes(file))).toEqual([]);
    expect(
      sourcesMatching(
        folder,
        /\b(appendToOutbox|writeWithEvents|compareAndWrite)\(/,
        /^events\/published\.ts$/,
      ),
    ).toEqual([]);
  });

  it('makes the problems of its contract in domain/problems.ts', () => {
    expect(sourcesMatching(folder, /\w+Problems\[[^\]]+\]\(/, /^domain\/problems\.ts$/)).toEqual([]);
  });

  it('names its tables on its page', () => {
    const migrations = list(join(folder, 'prisma/migrations')).map((migration) =>
      read(folder, `prisma/migrations/${migration}/migration.sql`),
    );
    const tables = [...migrations.join('\n').matchAll(/^CREATE TABLE (\w+)/gm)].map(([, table]) => table!);
    const [owned = ''] = /^- \*\*Owns\*\*.*$/m.exec(read(folder, 'README.md')) ?? [];
    const named = [...owned.matchAll(/`([a-z_]+)`/g)].map(([, table]) => table!);
    expect(named.sort()).toEqual(tables.filter((table) => !formerTables.includes(table)).sort());
  });

  it('speaks SQL in store/ only', () => {
    expect(sourcesMatching(folder, SQL, /^store\//)).toEqual([]);
    expect(sourcesMatching(folder, DATABASE, /^(store\/|compose\.ts$)/)).toEqual([]);
  });
});

it('finds the services that it compares', () => {
  const names = services.map(({ folder }) => relative(apps, folder));
  expect(names).toEqual(expect.arrayContaining(['contacts', 'settings', 'workflow']));
  expect(names).not.toContain('gateway');
});
