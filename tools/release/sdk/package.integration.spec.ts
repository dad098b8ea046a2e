import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newId } from '@plinth/kernel/uuid';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { startPlatform, type RunningPlatform } from '@plinth/testing/start-platform';
import { build } from 'esbuild';
import { launch } from 'puppeteer-core';

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

describe('the published client, in a project that knows nothing of this one', () => {
  let project: string;
  let data: string;
  let pages: Server;
  let platform: RunningPlatform;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'plinth-user-'));
    data = await mkdtemp(join(tmpdir(), 'plinth-sdk-'));
    // The database server of a root user runs as somebody else, who has to get in.
    await chmod(data, 0o755);
    await install(project);
    pages = await servePages(project);
    process.env['CORS_ORIGINS'] = originOf(pages);
    platform = await startPlatform({ dataDirectory: data });
  }, 600_000);
  afterAll(async () => {
    await platform?.stop();
    pages?.close();
    await Promise.all([project, data].map((folder) => rm(folder, { recursive: true, force: true })));
  }, 60_000);

  const tokenOfNewTenant = async (): Promise<string> => {
    const response = await fetch(`${platform.url}/dev/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sub: 'ada', name: 'Ada', tenantId: newId(), roles: ['admin'] }),
    });
    return ((await response.json()) as { accessToken: string }).accessToken;
  };

  it('is typed and works in Node', async () => {
    const { stdout } = await run(node, ['in-node.js', platform.url, await tokenOfNewTenant()], {
      cwd: project,
    });

    const { copy, ...report } = JSON.parse(stdout);
    expect(report).toEqual(everything);
    expect(await readFile(copy)).toEqual(await readFile(join(project, 'in-node.js')));
  });

  it('works in a browser, from a page of another origin', async () => {
    await build({
      stdin: {
        contents: `import { doEverything } from './everything.js'; window.doEverything = doEverything;`,
        resolveDir: project,
      },
      outfile: join(project, 'bundle.js'),
      bundle: true,
      format: 'esm',
    });
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

/** Packs the client, installs it as a user would, and compiles the user's programs against its types. */
async function install(project: string): Promise<void> {
  const { stdout } = await run(node, ['tools/release/sdk/pack.ts'], { cwd: root });
  const file = (path: string) => `file:${join(root, path)}`;
  const dependencies = {
    '@plinth/sdk': file(stdout.trim()),
    // What the client needs, from where it is: a test does without the registry.
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
  await run('npm', ['install', '--offline', '--install-links', '--no-audit', '--no-fund'], { cwd: project });
  await run(join(programs, 'tsc'), [], { cwd: project }).catch((error: { stdout: string }) => {
    throw new Error(`The types do not fit:\n${error.stdout}`);
  });
}

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
