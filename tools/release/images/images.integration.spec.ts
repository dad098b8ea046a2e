import { spawn, spawnSync, execFileSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { eventually } from '@plinth/testing/eventually';
import { infrastructure } from '@plinth/testing/infrastructure';
import { renderKustomization } from '@plinth/testing/kustomize';
import { prepareCode } from '@plinth/testing/prepare-code';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import { parseAllDocuments } from 'yaml';
import { discoveredServices } from './discovered-services';
import { givenToPod, inRenderedSecrets, type Given, type Rendered } from './given-to-pod';

const root = join(__dirname, '../../..');
const node = join(root, 'node_modules/.bin/node');
const images = mkdtempSync(join(tmpdir(), 'plinth-images-'));
const place = (image: string) => join(images, image);
const run = (...args: string[]) => execFileSync(node, args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
const assemble = (image: string) => run('tools/release/images/assemble.ts', image, place(image));

const secrets = {
  CALLER_KEYS: 'Zx8rQm1vTb6nLw3kPc9yHd2fJg7sAe5u',
  CURSOR_KEYS: 'Pb4kWd9xRn2hVy7mTc6gQs1jLf8zUa3e',
  EVENT_KEYS: 'Wq6mXz3rTf9kLb2vYc8nJh5pGd7sAu4e',
  SETTINGS_ENCRYPTION_KEYS: 'Hn5tGv8cXz2qJw7rMk4pBd9sYf3uLe6a',
};

/**
 * Runs a command in the image as a container would: of the machine only its libraries and Node.js, only /tmp writable,
 * as another user without rights, without a shell, without environment.
 */
function runInImage(
  image: string,
  command: string[],
  environment: Record<string, string>,
  files: Given['files'] = {},
): ChildProcess {
  const mounts = ['/usr', '/etc/ssl'].flatMap((path) => ['--ro-bind-try', path, path]);
  const links = ['bin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]);
  const variables = Object.entries({ NODE_ENV: 'production', ...environment });
  return spawn(
    'bwrap',
    [
      ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--uid', '10001', '--gid', '10001'],
      ...['--cap-drop', 'ALL', '--die-with-parent', '--new-session', '--as-pid-1', '--clearenv'],
      ...[...mounts, ...links, '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
      ...['--ro-bind', realNode(), '/runtime/node', '--ro-bind', place(image), '/app', '--chdir', '/app'],
      ...Object.entries(files).flatMap(([path, text]) => ['--ro-bind', fileWith(text), path]),
      ...['--remount-ro', '/'],
      ...variables.flatMap(([name, value]) => ['--setenv', name, value]),
      ...['--', '/runtime/node', '--enable-source-maps', ...command],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
}

/** A file as Secrets are mounted, which often ends with a line break. */
function fileWith(text: string): string {
  const path = join(images, 'mounted', String(mounted++));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${text}\n`);
  return path;
}
let mounted = 0;

const realNode = () => run('-p', 'process.execPath').trim();

const cage = spawnSync('bwrap', ['--unshare-user', '--ro-bind', '/', '/', '/bin/true']).status === 0;
if (!cage)
  process.stderr.write(
    'NOT TESTED: images run read-only and as an unprivileged user; bubblewrap does not work here.\n',
  );

const overlay = renderKustomization('k8s/overlays/dev');
const manifests = parseAllDocuments(overlay ?? '').map((document) => document.toJS() as Rendered);
const cageAndOverlay = cage && overlay !== undefined;

/**
 * What Kubernetes gives a container of the overlay for development, with other addresses.
 * @param workload
 * @param addresses by the variable that has one, or names its file
 */
function givenBy(workload: string, addresses: Record<string, string>): Given {
  const found = manifests.find(
    ({ kind, metadata }) => metadata.name === workload && kind !== 'ServiceAccount',
  )!;
  const { variables, files } = givenToPod(found, manifests, inRenderedSecrets(manifests));
  for (const [variable, address] of Object.entries(addresses)) {
    const path = variables[`${variable}_FILE`];
    if (path === undefined) variables[variable] = address;
    else files[path] = address;
  }
  return { variables, files };
}

const running: ChildProcess[] = [];

async function start(image: string, { variables, files }: Given) {
  const ports = { HTTP_PORT: '0', GRPC_PORT: '0', ADMIN_PORT: '0', HTTP_HOST: '127.0.0.1' };
  const child = runInImage(image, ['main.js'], { ...variables, ...ports }, files);
  running.push(child);
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  const admin = await eventually(() => {
    if (child.exitCode !== null) throw new Error(output);
    return /"(?:admin|adminPort)":(\d+)/.exec(output)?.[1];
  });
  return { child, admin, output: () => output };
}

let settings: TestDatabase;
beforeAll(async () => {
  prepareCode();
  settings = await createTestDatabase('settings');
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await settings.drop();
  rmSync(images, { recursive: true, force: true });
});

describe('the image of a service', () => {
  it('contains what was built, the packages that it requires and a list of them; no sources, types or tools', () => {
    assemble('settings');

    const sbom = JSON.parse(readFileSync(join(place('settings'), 'sbom.cdx.json'), 'utf8'));
    const parts = sbom.components.map(({ name }: { name: string }) => name);
    expect(parts).toEqual(expect.arrayContaining(['express', 'pg', 'zod', '@prisma/client']));
    expect(parts).not.toEqual(expect.arrayContaining(['jest', 'typescript', 'exceljs']));
    const files = readdirSync(place('settings'), { recursive: true }).map(String);
    expect(files.filter((name) => /(\.ts|\.spec\.js|\.env|\.key)$/.test(name))).toEqual([]);
    expect(files.filter((name) => /^[^/]+$/.test(name)).sort()).toEqual(
      ['healthcheck.mjs', 'main.js', 'main.js.map', 'node_modules', 'sbom.cdx.json'].sort(),
    );
  });

  (cageAndOverlay ? it : it.skip)(
    'runs as an unprivileged user on a read-only file system with what Kubernetes gives it, and stops on SIGTERM',
    async () => {
      const addresses = { NATS_URL: infrastructure().natsUrl, DATABASE_URL_SETTINGS: settings.url };
      const { child, admin, output } = await start('settings', givenBy('settings-main', addresses));

      const health = runInImage('settings', ['healthcheck.mjs'], { ADMIN_PORT: admin });
      expect(await once(health, 'exit')).toEqual([0, null]);
      const processes = spawnSync('ps', ['--ppid', String(child.pid), '-o', 'pid='], { encoding: 'utf8' });
      process.kill(Number(processes.stdout.trim().split('\n')[0]), 'SIGTERM');
      await once(child, 'exit');
      expect(output()).not.toMatch(/EROFS|EACCES/);
    },
  );

  (cage ? it : it.skip)('refuses to run with a configuration that is unsafe in production', async () => {
    const unsafe = {
      ...secrets,
      CALLER_KEYS: 'development-only-caller-key',
      DATABASE_URL_SETTINGS: settings.url,
    };
    const child = runInImage('settings', ['main.js'], unsafe);
    let output = '';
    child.stderr?.on('data', (chunk) => (output += chunk));

    expect(await once(child, 'exit')).toEqual([78, null]);
    expect(output).toContain('CALLER_KEYS: in production each key needs');
  });
});

describe('the image of the gateway', () => {
  it('contains the console and the API reference where the gateway looks for them', () => {
    assemble('gateway');
    for (const name of ['console', 'reference']) {
      expect(existsSync(join(place('gateway'), name, 'index.html'))).toBe(true);
      expect(readdirSync(join(place('gateway'), name, 'assets'))).toContainEqual(
        expect.stringMatching(/^index-[\w-]+\.js\.br$/),
      );
    }
  });
});

describe('the image of migrations', () => {
  (cageAndOverlay ? it : it.skip)(
    'makes and migrates databases with what the job of Kubernetes gives it, and reports those that are migrated',
    async () => {
      assemble('migrate');
      const services = discoveredServices().filter(({ hasDatabase }) => hasDatabase);
      const databases = await Promise.all(services.map(({ name }) => createTestDatabase(name)));
      const contacts = services.findIndex(({ name }) => name === 'contacts');
      await databases[contacts]!.drop();
      const addresses = services.map(({ name }, index) => [
        `DATABASE_URL_${name.toUpperCase().replaceAll('-', '_')}`,
        databases[index]!.url,
      ]);
      const { variables, files } = givenBy('migrate', {
        ...Object.fromEntries(addresses),
        MIGRATE_DATABASE_URL: infrastructure().postgresUrl,
      });

      const child = runInImage('migrate', ['main.js'], variables, files);
      let output = '';
      child.stdout?.on('data', (chunk) => (output += chunk));
      child.stderr?.on('data', (chunk) => (output += chunk));
      const exit = await once(child, 'exit');
      await Promise.all(databases.map((database) => database.drop()));

      expect(output.trim().split('\n').sort()).toEqual(
        services.map(({ name }) =>
          name === 'contacts'
            ? expect.stringMatching(/^contacts: applied .*20\d{12}_/)
            : `${name}: up to date`,
        ),
      );
      expect(exit).toEqual([0, null]);
    },
  );
});

describe('the Dockerfile', () => {
  const lines = readFileSync(join(root, 'Dockerfile'), 'utf8');

  it('ends with a numeric user, an init process and a health check, and without a shell', () => {
    const last = lines.slice(lines.lastIndexOf('\nFROM '));
    expect(last).toMatch(/^USER \d{4,}:\d{4,}$/m);
    expect(last).toMatch(/^ENTRYPOINT \["\/usr\/bin\/tini", "--"/m);
    expect(last).toMatch(/^HEALTHCHECK .*CMD \["node"/m);
    expect(last).not.toMatch(/^RUN /m);
  });

  it('pins the version of every image', () => {
    const bases = [...lines.matchAll(/^(?:FROM|ARG NODE_IMAGE=)\s*(\S+)/gm)].map(([, name]) => name!);
    const foreign = bases.filter((name) => !/^(\$\{\w+\}|build|plain|browser)$/.test(name));
    expect(foreign).toEqual([expect.stringMatching(/^node:\d+\.\d+\.\d+-/)]);
  });

  it('copies only what .dockerignore does not exclude', () => {
    const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
    expect(ignored).toContain('*');
    expect(
      ignored.filter((line) => line.startsWith('!')).every((line) => existsSync(join(root, line.slice(1)))),
    ).toBe(true);
  });
});
