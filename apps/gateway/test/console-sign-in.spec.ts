import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launchChromium, PAGE_MILLISECONDS_MAX } from '@plinth/testing/launch-chromium';
import { prepareCode } from '@plinth/testing/prepare-code';
import { eventually } from '@plinth/testing/eventually';
import { allEndpoints, allProblems } from '@plinth/contracts/all';
import { closeAll, receive, sendJson, startGateway, startUpstream } from './start-gateway';
import { runProvider, signInAt, signInOn } from './start-provider';

const root = join(__dirname, '../../..');

let browser: Browser;
let provider: Awaited<ReturnType<typeof runProvider>>;
beforeAll(async () => {
  prepareCode();
  [browser, provider] = await Promise.all([launchChromium(), runProvider()]);
});
afterAll(async () => {
  provider?.end();
  await browser?.close();
});
afterEach(closeAll);

/** Texts are read before somebody signs in; without any the console shows their keys. */
const localization = () =>
  startUpstream((_request, response) =>
    sendJson(response, 200, { currentCulture: 'en', cultureName: 'en', resources: {}, languages: [] }),
  );

async function startConsole(services: Record<string, string>): Promise<string> {
  const { url } = await startGateway(
    { localization: await localization(), ...services },
    {
      ...signInAt(provider.issuer),
      CONSOLE_DIRECTORY: join(root, 'dist/apps/console'),
    },
    { endpoints: allEndpoints, problems: allProblems },
  );
  return url;
}

describe('signing in to the console', () => {
  it('leads through the OpenID provider and back to the page that was wanted, with a token for the interface, and out of both again', async () => {
    const nothing = await startUpstream((_request, response) =>
      sendJson(response, 200, { items: [], totalCount: null, hasMore: false, nextCursor: null, count: 0 }),
    );
    const url = await startConsole({ 'data-exchange': nothing, timeline: nothing });
    const page = await browser.newPage();
    page.setDefaultTimeout(PAGE_MILLISECONDS_MAX);
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));

    await page.goto(`${url}/console/exports`);
    await page.getByRole('button', { name: 'Platform.actions.signIn' }).click();
    await signInOn(page, 'ada');

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
  });

  it('goes on over a page whose session ended: in another window for the same person, for whom alone is sent what waits', async () => {
    const sent: string[] = [];
    const timeline = await startUpstream((request, response) => {
      if (request.method === 'POST') {
        void receive(request).then(({ claims, body }) => {
          sent.push(`${claims.caller?.userId}: ${(JSON.parse(body) as { body: string }).body}`);
          sendJson(response, 201, {});
        });
      } else if (request.url!.endsWith('/followers')) sendJson(response, 200, []);
      else
        sendJson(response, 200, { items: [], totalCount: null, hasMore: false, nextCursor: null, count: 0 });
    });
    const url = await startConsole({ timeline });
    const page = await browser.newPage();
    page.setDefaultTimeout(PAGE_MILLISECONDS_MAX);
    await page.clock.install();
    const addresses: string[] = [];
    page.on('framenavigated', (frame) => addresses.push(frame.url()));
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));

    let refused: string | undefined;
    await page.route(/\/(api|me)\b/, (route) => {
      const request = route.request();
      if (request.method() !== 'POST' || request.headers()['authorization'] !== refused)
        return route.continue();
      const problem = { type: 'about:blank', title: 'Unauthorized', status: 401, detail: 'It has expired.' };
      return route.fulfill({ status: 401, contentType: 'application/problem+json', json: problem });
    });
    const again = page.getByRole('alertdialog', { name: 'Console.signIn.again' });
    const writeAfterTheEnd = async (text: string) => {
      const session = await page.evaluate(() => sessionStorage.getItem('plinth-session')!);
      refused = `Bearer ${(JSON.parse(session) as { token: string }).token}`;
      await page.locator('textarea').first().fill(text);
      await page.locator('form.composer button[type=submit]').click();
      await again.waitFor();
      const explanation = await again.getAttribute('aria-describedby');
      expect(await page.locator(`[id="${explanation}"]`).textContent()).toBe('Console.signIn.lapsed');
    };
    const openWindow = async () => {
      const opened = page.waitForEvent('popup');
      await again.getByRole('button', { name: 'Console.signIn.goOnAs' }).click();
      return opened;
    };

    await page.goto(`${url}/console/entities/Order/1`);
    await page.getByRole('button', { name: 'Platform.actions.signIn' }).click();
    await signInOn(page, 'ada');
    await page.getByRole('button', { name: 'Ada' }).waitFor();

    await writeAfterTheEnd('Written by Ada');
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    const left = await openWindow();
    await left.locator('input[name=login]').waitFor();
    await left.close();
    // It is she who is waited for.
    await page.clock.fastForward(10_000);
    expect(await page.getByText('Console.failure.slow').count()).toBe(0);
    await page.context().addCookies(cookies);
    // The provider knows her still.
    await (await openWindow()).locator('button[type=submit]').click();
    await again.waitFor({ state: 'detached' });
    await eventually(() => sent.length > 0);
    expect(sent).toEqual(['ada: Written by Ada']);
    expect(page.url()).toBe(`${url}/console/entities/Order/1`);

    await writeAfterTheEnd('Not for Kim');
    await page.context().clearCookies();
    const other = await openWindow();
    await other.locator('input[name=login]').waitFor();
    // What fails there is begun again for the same page.
    await other.goto(`${url}/console/signed-in?error=access_denied`);
    await other.getByRole('link', { name: 'Platform.actions.signIn' }).click();
    await signInOn(other, 'kim');
    await page.waitForURL(`${url}/console/imports`);
    await page.getByRole('button', { name: 'Kim' }).waitFor();

    await page.goto(`${url}/console/entities/Order/1`);
    await page.getByRole('button', { name: 'Kim' }).waitFor();
    await writeAfterTheEnd('Not for the next one');
    await again.getByRole('button', { name: 'Console.signIn.asOther' }).click();
    await page.locator('button[name=logout]').click();
    await page.waitForURL(`${url}/console/sign-in*`);
    await page.getByRole('button', { name: 'Platform.actions.signIn' }).click();
    // The provider has forgotten them too.
    await page.locator('input[name=login]').waitFor();
    expect(sent).toEqual(['ada: Written by Ada']);
    expect(addresses.filter((address) => address.includes('from=%2Fsign-in'))).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
