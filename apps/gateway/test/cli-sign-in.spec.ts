import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { launchChromium, PAGE_MILLISECONDS_MAX } from '@plinth/testing/launch-chromium';
import { prepareCode } from '@plinth/testing/prepare-code';
import { closeAll, onCloseAll, startGateway } from './start-gateway';
import { signInAt, signInOn, startProvider } from './start-provider';

const root = join(__dirname, '../../..');
const node = join(root, 'node_modules/.bin/node');

const program = mkdtempSync(join(tmpdir(), 'plinth-program-'));
const plinth = join(program, 'plinth.js');

beforeAll(() => {
  prepareCode();
  execFileSync(node, ['tools/release/packages/cli.ts', program], { cwd: root });
});
afterAll(() => rmSync(program, { recursive: true }));
afterEach(closeAll);

describe('plinth login', () => {
  it('signs a person in who confirms a code in a browser, keeps the token to itself, and renews it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-cli-'));
    onCloseAll(() => rmSync(folder, { recursive: true }));
    const issuer = await startProvider();
    const { url } = await startGateway(
      {},
      { ...signInAt(issuer), CONSOLE_DIRECTORY: join(root, 'dist/apps/console') },
    );
    const env = { ...process.env, PLINTH_URL: url, XDG_CONFIG_HOME: folder, PLINTH_TOKEN: '' };

    const login = spawn(node, [plinth, 'login'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    onCloseAll(() => login.kill());
    const ended = once(login, 'exit');
    const [line] = (await once(createInterface(login.stderr!), 'line')) as [string];
    const browser = await launchChromium();
    onCloseAll(() => browser.close());
    const page = await browser.newPage();
    page.setDefaultTimeout(PAGE_MILLISECONDS_MAX);
    await page.goto(/Open (\S+) and confirm/.exec(line)![1]!);
    await page.locator('button[type=submit]').first().click();
    await signInOn(page, 'ada');

    expect(await ended).toEqual([0, null]);
    const file = join(folder, 'plinth/credentials', `${encodeURIComponent(url)}.json`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const whoAmI = async () =>
      JSON.parse((await promisify(execFile)(node, [plinth, 'whoami', '--json'], { env })).stdout);
    expect(await whoAmI()).toMatchObject({ userId: 'ada', userName: 'Ada' });

    // A token that has expired is renewed, and the new one is kept.
    const stored = () => JSON.parse(readFileSync(file, 'utf8'));
    const first = stored();
    const expire = () => writeFileSync(file, JSON.stringify({ ...stored(), expiresAt: 0 }));
    expire();
    expect(await whoAmI()).toMatchObject({ userId: 'ada' });
    expect(stored()).toMatchObject({ issuer, clientId: 'plinth-cli' });
    expect(stored().accessToken).not.toBe(first.accessToken);
    expect(stored().expiresAt).toBeGreaterThan(Date.now());

    // Two programs renew it once: this issuer withdraws a sign-in whose refresh token comes a second time.
    expire();
    const ada = { userId: 'ada' };
    expect(await Promise.all([whoAmI(), whoAmI()])).toMatchObject([ada, ada]);
    expire();
    expect(await whoAmI()).toMatchObject(ada);
  });
});
