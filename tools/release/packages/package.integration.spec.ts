import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { newId } from '@plinth/kernel/uuid';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { startPlatform, type RunningPlatform } from '@plinth/testing/start-platform';
import { build } from 'esbuild';
import { launch } from 'puppeteer-core';
import { startNpmRegistry, type NpmRegistry } from './npm-registry';

const root = join(__dirname, '../../..');
const programs = join(root, 'node_modules/.bin');
const run = promisify(execFile);
const node = join(programs, 'node');
const chromium = findOrInstall('chromium');

/** What `doEverything` has to find, wherever it runs. */
const everything = {
  problem: {
    status: 404,
    slug: 'setting-not-defined',
    instance: '/api/v1/settings/user/Nothing.Of.This',
  },
  entries: {
    isReplay: [true, true, true, true, true],
    bodies: ['five', 'four', 'three', 'two', 'one'],
  },
  exchange: {
    status: 'PartiallyCompleted',
    last: 'PartiallyCompleted 3 1',
    refused: true,
    rows: 2,
    fileName: expect.stringMatching(/\.csv$/),
    text: expect.stringMatching(/A,Analytical Engines\r?\nB,Difference Ltd/),
  },
};

/** What the client of all areas adds to a page, minified and compressed; three quarters of it are zod. */
const PAGE_BYTES_MAX = 130_000;
/** Packages are made, published, installed and compiled against, beside the start of a platform. */
const PUBLISH_MILLISECONDS_MAX = 600_000;

describe('a release of the packages', () => {
  it('takes its version and its change log from the scopes of commits', async () => {
    const history = await mkdtemp(join(tmpdir(), 'plinth-history-'));
    try {
      const environment = await shortHistory(history, [
        { folder: 'libs/sdk/src', message: 'sdk: call every endpoint by its contract' },
        { folder: 'libs/contracts/src', message: 'contracts: tell who read what' },
        { folder: 'apps/gateway/src', message: 'gateway: compare tokens in constant time' },
      ]);
      if (environment === undefined) return notTested('a release; this is no clone with its history.');
      const { stdout } = await nx(environment, 'release', '--dry-run', '--first-release', '--skip-publish');

      expect(stdout).toMatch(/New version \d+\.\d+\.\d+ written to manifest: libs\/sdk\/package\.json/);
      expect(stdout).toMatch(/New version \d+\.\d+\.\d+ written to manifest: apps\/cli\/package\.json/);
      expect(stdout).toMatch(/^\+ ### The interface\n\+ *\n\+ - tell who read what/m);
      expect(stdout).toMatch(/^\+ ### The client\n\+ *\n\+ - call every endpoint by its contract/m);
      expect(stdout).not.toContain('constant time');
    } finally {
      await rm(history, { recursive: true });
    }
  });
});

describe('the published packages, in a project that knows nothing of this one', () => {
  let registry: NpmRegistry;
  let project: string;
  let data: string;
  let pages: Server;
  let platform: RunningPlatform;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'plinth-user-'));
    data = await mkdtemp(join(tmpdir(), 'plinth-sdk-'));
    // The database server of a root user runs as somebody else, who has to get in.
    await chmod(data, 0o755);
    registry = await startNpmRegistry();
    pages = await servePages(project);
    process.env['CORS_ORIGINS'] = originOf(pages);
    const packages = publish(registry, project).then(() => install(project));
    // It is stopped also where a package cannot be published.
    const [started, published] = await Promise.allSettled([startPlatform({ dataDirectory: data }), packages]);
    if (started.status === 'rejected') throw started.reason;
    platform = started.value;
    if (published.status === 'rejected') throw published.reason;
  }, PUBLISH_MILLISECONDS_MAX);
  afterAll(async () => {
    await platform?.stop();
    pages?.close();
    registry?.close();
    await Promise.all([project, data].map((folder) => rm(folder, { recursive: true, force: true })));
  });

  const tokenOfNewTenant = async (): Promise<string> => {
    const response = await fetch(`${platform.url}/dev/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sub: 'ada', name: 'Ada', tenantId: newId(), roles: ['admin'] }),
    });
    return ((await response.json()) as { accessToken: string }).accessToken;
  };

  it('are both in the registry that npm is configured for', () => {
    expect(registry.published.toSorted()).toEqual([
      expect.stringMatching(/^@plinth\/cli@\d/),
      expect.stringMatching(/^@plinth\/sdk@\d/),
    ]);
  });

  it('have a command line', async () => {
    const env = { ...process.env, PLINTH_URL: platform.url, PLINTH_TOKEN: await tokenOfNewTenant() };
    const { stdout } = await run('node_modules/.bin/plinth', ['whoami', '--json'], { cwd: project, env });
    expect(JSON.parse(stdout)).toMatchObject({ userId: 'ada' });
  });

  it('have a client that is typed and works in Node', async () => {
    const { stdout } = await run(node, ['in-node.js', platform.url, await tokenOfNewTenant()], {
      cwd: project,
    });

    const { copy, ...report } = JSON.parse(stdout);
    expect(report).toEqual(everything);
    expect(await readFile(copy)).toEqual(await readFile(join(project, 'in-node.js')));
  });

  it('have a sister in Python', async () => {
    const path = await pythonClient();
    if (path === undefined) return;
    const program = join(__dirname, 'user/in_python.py');
    const { stdout } = await run('python3', [program, platform.url, await tokenOfNewTenant()], {
      env: { ...process.env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1' },
    });
    expect(JSON.parse(stdout)).toEqual({
      setting: 'Europe/Paris',
      problem: { status: 404, instance: everything.problem.instance },
      bodies: ['three', 'two', 'one'],
      headers: ['External id', 'Name'],
    });
  });

  it('have a client that works in a browser, from a page of another origin', async () => {
    await build({
      stdin: {
        contents: `import { doEverything } from './everything.js'; window.doEverything = doEverything;`,
        resolveDir: project,
      },
      outfile: join(project, 'bundle.js'),
      bundle: true,
      minify: true,
      format: 'esm',
    });
    expect(gzipSync(await readFile(join(project, 'bundle.js'))).length).toBeLessThan(PAGE_BYTES_MAX);
    const browser = await launch({ executablePath: chromium!, args: ['--no-sandbox'] });
    try {
      const page = await browser.newPage();
      await page.goto(originOf(pages));
      await page.waitForFunction('window.doEverything');
      const options = JSON.stringify({ baseUrl: platform.url, token: await tokenOfNewTenant() });

      expect(await page.evaluate(`doEverything(${options})`)).toEqual(everything);
    } finally {
      await browser.close();
    }
  });
});

/**
 * A history of few commits, each of which adds a folder of this project as it is: Nx asks of each commit since the last
 * release whom it concerns, and the history of this project, which has none yet, grows.
 * @param folder where it is stored
 * @returns the environment in which git, and whoever calls it, sees this history; undefined where there is no git
 */
async function shortHistory(
  folder: string,
  commits: readonly { folder: string; message: string }[],
): Promise<NodeJS.ProcessEnv | undefined> {
  const inRoot = { cwd: root };
  const [tree, objects] = await Promise.all(
    [
      ['rev-parse', 'HEAD^{tree}'],
      ['rev-parse', '--git-path', 'objects'],
    ].map((args) => run('git', args, inRoot)),
  ).then(
    (outputs) => outputs.map(({ stdout }) => stdout.trim()),
    () => [],
  );
  if (tree === undefined || objects === undefined) return undefined;
  await run('git', ['init', '--quiet', '--bare', '--initial-branch=main', folder]);
  await writeFile(join(folder, 'objects', 'info', 'alternates'), `${resolve(root, objects)}\n`);
  const person = { NAME: 'Ada', EMAIL: 'ada@example.com' };
  const env = {
    ...process.env,
    ...Object.fromEntries(
      Object.entries(person).flatMap(([what, value]) => [
        [`GIT_AUTHOR_${what}`, value],
        [`GIT_COMMITTER_${what}`, value],
      ]),
    ),
    GIT_DIR: folder,
    GIT_WORK_TREE: root,
  };
  const git = async (...args: string[]) => (await run('git', args, { cwd: root, env })).stdout.trim();
  let parent: string[] = [];
  for (const [index, { message }] of [{ message: 'workspace: begin' }, ...commits].entries()) {
    await git('read-tree', tree);
    const missing = commits.slice(index).map((commit) => commit.folder);
    if (missing.length > 0) await git('rm', '-r', '--cached', '--quiet', ...missing);
    parent = ['-p', await git('commit-tree', await git('write-tree'), ...parent, '-m', message)];
  }
  await git('update-ref', 'HEAD', parent[1]!);
  return env;
}

const nx = (env: NodeJS.ProcessEnv, ...args: string[]) =>
  run(join(programs, 'nx'), args, { cwd: root, env: { ...env, FORCE_COLOR: '0' } });

/** Packs and publishes as a release does, to the registry that npm's own configuration names. */
async function publish(registry: NpmRegistry, folder: string): Promise<void> {
  const configuration = join(folder, 'npmrc');
  const { host } = new URL(registry.url);
  await writeFile(configuration, `registry=${registry.url}\n//${host}/:_authToken=secret\n`);
  const env = { ...process.env, FORCE_COLOR: '0', NPM_CONFIG_USERCONFIG: configuration };
  await run(join(programs, 'nx'), ['release', 'publish'], { cwd: root, env }).catch(
    (error: { stdout: string }) => {
      // What a package was refused for is in what its task printed.
      throw new Error(`The packages were not published:\n${error.stdout}`, { cause: error });
    },
  );
}

/** Installs the packages as a user would, and compiles the user's programs against the types. */
async function install(project: string): Promise<void> {
  const file = (path: string) => `file:${join(root, path)}`;
  const dependencies = {
    '@plinth/sdk': '*',
    '@plinth/cli': '*',
    // What the client needs, from where it is: a test does without the internet.
    'eventsource-parser': file('node_modules/eventsource-parser'),
    uuid: file('node_modules/uuid'),
    zod: file('node_modules/zod'),
  };
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    strict: true,
  };
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies }),
  );
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  await writeFile(join(project, 'index.html'), '<script type="module" src="bundle.js"></script>');
  for (const name of ['everything.ts', 'in-node.ts'])
    await copyFile(join(__dirname, 'user', name), join(project, name));
  await run('npm', ['install', '--install-links', '--no-audit', '--no-fund'], {
    cwd: project,
    env: { ...process.env, NPM_CONFIG_USERCONFIG: join(project, 'npmrc') },
  });
  await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc')], {
    cwd: project,
  }).catch((error: { stdout: string }) => {
    throw new Error(`The types do not fit:\n${error.stdout}`);
  });
}

/** Where Python finds the generated client and what that needs; undefined, with the reason, without the tools for it. */
async function pythonClient(): Promise<string | undefined> {
  const generator = findOrInstall('openapi-generator');
  const missing = await Promise.all([
    run('java', ['-version']),
    run('python3', ['-m', 'pip', '--version']),
  ]).then(() => (generator === undefined ? 'openapi-generator' : undefined), String);
  if (missing !== undefined) return notTested(`the client in Python: ${missing}`);
  const { stdout } = await run(node, ['tools/release/packages/sdk.ts', 'python'], { cwd: root });
  const client = join(root, stdout.trim());
  const requirements = join(client, 'requirements.txt');
  const digest = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const packages = join(dirname(generator!), `python-${digest.slice(0, 16)}`);
  if (!existsSync(packages)) {
    const options = ['--quiet', '--disable-pip-version-check', '--requirement', requirements];
    const draft = `${packages}.${process.pid}`;
    const failure = await run('python3', ['-m', 'pip', 'install', ...options, '--target', draft]).then(
      () => undefined,
      String,
    );
    if (failure !== undefined) return notTested(`the client in Python: ${failure}`);
    await rename(draft, packages);
  }
  return [client, packages].join(delimiter);
}

const notTested = (reason: string): undefined => {
  process.stderr.write(`NOT TESTED: ${reason}\n`);
};

async function servePages(folder: string): Promise<Server> {
  const server = createServer(async ({ url }, response) => {
    const name = url === '/bundle.js' ? 'bundle.js' : 'index.html';
    response.setHeader('content-type', name === 'bundle.js' ? 'text/javascript' : 'text/html');
    response.end(await readFile(join(folder, name)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
