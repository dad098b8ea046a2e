import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser } from 'playwright-core';
import { launchChromium, PAGE_MILLISECONDS_MAX } from '@plinth/testing/launch-chromium';
import { allEndpoints, allProblems } from '@plinth/contracts/all';
import { closeAll, onCloseAll, sendJson, startGateway, startUpstream } from './start-gateway';

const root = join(__dirname, '../../..');
const node = join(root, 'node_modules/.bin/node');

let browser: Browser;
beforeAll(async () => {
  execFileSync(node, ['tools/development/build/build.ts'], { cwd: root });
  browser = await launchChromium();
}, 120_000);
afterAll(() => browser?.close());
afterEach(closeAll);

async function startProvider(): Promise<string> {
  const provider = spawn(node, [join(__dirname, 'oidc-provider.mjs')], { stdio: ['pipe', 'pipe', 'ignore'] });
  onCloseAll(() => provider.kill());
  const [issuer] = await once(createInterface(provider.stdout!), 'line');
  return issuer as string;
}

/** Texts are read before somebody signs in; without any the console shows their keys. */
const localization = () =>
  startUpstream((_request, response) =>
    sendJson(response, 200, { currentCulture: 'en', cultureName: 'en', resources: {}, languages: [] }),
  );

describe('signing in to the console', () => {
  it('leads through the OpenID provider and back to the page that was wanted, with a token for the interface, and out of both again', async () => {
    const issuer = await startProvider();
    const nothing = await startUpstream((_request, response) =>
      sendJson(response, 200, { items: [], totalCount: null, hasMore: false, nextCursor: null, count: 0 }),
    );
    const { url } = await startGateway(
      { localization: await localization(), 'data-exchange': nothing, timeline: nothing },
      {
        DEV_ISSUER: 'false',
        OIDC_ISSUER: issuer,
        OIDC_JWKS_URL: `${issuer}/jwks`,
        CONSOLE_DIRECTORY: join(root, 'dist/apps/console'),
      },
      { endpoints: allEndpoints, problems: allProblems },
    );
    const page = await browser.newPage();
    page.setDefaultTimeout(PAGE_MILLISECONDS_MAX);
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));

    await page.goto(`${url}/console/exports`);
    await page.getByRole('button', { name: 'Platform.actions.signIn' }).click();
    await page.locator('input[name=login]').fill('ada');
    await page.locator('input[name=password]').fill('anything');
    await page.locator('button[type=submit]').click();
    await page.locator('button[type=submit]').click();

    await page.waitForURL(`${url}/console/exports`);
    await page.getByRole('heading', { level: 1, name: 'Platform.areas.exports' }).waitFor();
    await page.getByRole('button', { name: 'Ada' }).waitFor();

    await page.getByRole('button', { name: 'Ada' }).click();
    await page.getByRole('menuitem', { name: 'Platform.actions.signOut' }).click();
    await page.locator('button[name=logout]').click();
    await page.waitForURL(`${url}/console/sign-in*`);
    await page.getByRole('button', { name: 'Platform.actions.signIn' }).click();
    // The provider has forgotten who it was.
    await page.locator('input[name=login]').waitFor();

    expect(complaints.filter((text) => !text.startsWith(`Failed to load resource`))).toEqual([]);
    await page.close();
  }, 120_000);
});
