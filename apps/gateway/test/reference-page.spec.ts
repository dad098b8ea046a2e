import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { launchChromium, PAGE_MILLISECONDS_MAX } from '@plinth/testing/launch-chromium';
import { prepareCode } from '@plinth/testing/prepare-code';
import { allEndpoints, allProblems } from '@plinth/contracts/all';
import { platformEndpoints } from '@plinth/contracts/platform/endpoints';
import type { Browser, Locator, Page } from 'playwright-core';
import { parse } from 'yaml';
import {
  closeAll,
  sendJson,
  startGateway,
  startUpstream,
  type ReceivedRequest,
  receive,
} from './start-gateway';
import { signInAt, signInOn, startProvider } from './start-provider';

const root = join(__dirname, '../../..');

let browser: Browser;
beforeAll(async () => {
  prepareCode();
  // Nobody can be reached but what the tests start.
  browser = await launchChromium('--proxy-server=127.0.0.1:1', '--proxy-bypass-list=127.0.0.1');
});
afterAll(() => browser?.close());
afterEach(closeAll);

/** A gateway with the real contracts, before a service of settings that remembers what it received. */
async function start(environment: Record<string, string> = {}) {
  const received: ReceivedRequest[] = [];
  const settings = await startUpstream((request, response) => {
    void receive(request).then((receivedRequest) => {
      received.push(receivedRequest);
      sendJson(response, 200, { value: 'the value that was asked for' });
    });
  });
  const gateway = await startGateway(
    { settings },
    { REFERENCE_DIRECTORY: join(root, 'dist/apps/reference'), ...environment },
    { endpoints: allEndpoints, problems: allProblems },
  );
  return { ...gateway, received };
}

/** Opens the page; what it complains about and whom it asks are remembered. */
async function openReference(url: string) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  page.setDefaultTimeout(PAGE_MILLISECONDS_MAX);
  const complaints: string[] = [];
  const asked = new Set<string>();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('request', (request) => {
    if (request.url().startsWith('http')) asked.add(new URL(request.url()).origin);
  });
  await page.goto(`${url}/docs`);
  await page.getByRole('heading', { level: 1, name: 'Plinth' }).waitFor();
  return { page, complaints, asked };
}

/** Opens the operation that writes a setting; returns what opens the form of its request. */
async function openOperation(page: Page): Promise<Locator> {
  await page.evaluate("location.hash = 'tag/settings/PUT/api/v1/settings/{scope}/{name}'");
  const opening = page.getByRole('button', { name: /Test Request.*put/i }).first();
  await opening.waitFor();
  return opening;
}

/** Sends the request that writes a setting, as the page fills it in. */
async function writeSetting(page: Page): Promise<void> {
  await (await openOperation(page)).click();
  await page.getByRole('button', { name: /^Send/ }).first().click();
  await page.getByText('200 OK').waitFor();
}

/** What the rules of axe find in one scheme; in the dark one only those about colours find anything else. */
async function violationsIn(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`body.${colorScheme}-mode`).waitFor();
  const rules = colorScheme === 'light' ? {} : { runOnly: ['color-contrast', 'link-in-text-block'] };
  const options = JSON.stringify({ ...rules, resultTypes: ['violations'], preload: false });
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  return page.evaluate(
    `axe.run(${options}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => [id, html.slice(0, 200), failureSummary].join(' '))))`,
  );
}

const written = {
  method: 'PUT',
  url: '/api/v1/settings/user/Service.Localization.PreferredCulture',
  claims: { caller: { userId: 'ada', permissions: ['*'] } },
};

const operationCount = Object.values(allEndpoints).reduce(
  (sum, endpoints) => sum + Object.keys(endpoints).length,
  Object.keys(platformEndpoints).length + 2,
);

describe('GET /docs', () => {
  it('has no violations for axe, and works without internet access: search, a development token, and a request', async () => {
    const { url, received } = await start();
    const { page, complaints, asked } = await openReference(url);

    await openOperation(page);
    for (const colorScheme of ['light', 'dark'] as const)
      expect({ colorScheme, violations: await violationsIn(page, colorScheme) }).toEqual({
        colorScheme,
        violations: [],
      });

    await page
      .getByRole('button', { name: /search/i })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('combobox').fill('value of one setting');
    await page.getByRole('option', { name: /Read the value of one setting/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Get a development token' }).click();
    await page.getByText('Requests are sent with this token.').waitFor();
    await writeSetting(page);

    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject(written);
    expect(complaints).toEqual([]);
    expect([...asked]).toEqual([url]);
    await page.close();
  });

  it('signs people in at the issuer with PKCE, and sends their token', async () => {
    const issuer = await startProvider();
    const { url, received } = await start(signInAt(issuer));
    const { page, complaints, asked } = await openReference(url);

    const opened = page.waitForEvent('popup');
    await page
      .getByRole('button', { name: /authorize/i })
      .first()
      .click();
    const window = await opened;
    const closed = window.waitForEvent('close');
    await signInOn(window, 'ada');
    await closed;
    await writeSetting(page);

    expect(received[0]).toMatchObject(written);
    expect(complaints).toEqual([]);
    expect([...asked].sort()).toEqual([issuer, url].sort());
    await page.close();
  });

  it('allows scripts of this gateway only, and styles with the nonce of the page', async () => {
    const { fetch } = await start();
    const response = await fetch('/docs', { as: null });
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w-]{22}'; /);
    expect(policy.replace("style-src-attr 'unsafe-inline'", '')).not.toMatch(/unsafe-|https?:|\*/);
    expect(await response.text()).toContain(/nonce-([\w-]{22})/.exec(policy)![1]);
    expect((await fetch('/docs', { as: null, method: 'POST' })).status).toBe(405);
  });

  it('is not there where it is not built', async () => {
    const { fetch } = await start({ REFERENCE_DIRECTORY: join(root, 'nowhere') });
    expect((await fetch('/docs', { as: null })).status).toBe(404);
  });
});

describe('what can be downloaded', () => {
  it('is the document as YAML', async () => {
    const { fetch } = await start();
    const [json, yaml] = await Promise.all(
      ['/openapi.json', '/openapi.yaml'].map((path) => fetch(path, { as: null })),
    );
    expect(yaml!.headers.get('content-type')).toMatch(/^application\/yaml/);
    expect(parse(await yaml!.text())).toEqual(await json!.json());
  });

  it('is a collection for Postman with every operation, whose variables are all there', async () => {
    const { fetch } = await start();
    const response = await fetch('/docs/plinth.postman_collection.json', { as: null });
    expect(response.headers.get('content-disposition')).toContain('plinth.postman_collection.json');
    const collection = (await response.json()) as Collection;
    const requests = collection.item.flatMap(({ item }) => item.map(({ request }) => request));
    expect(requests).toHaveLength(operationCount);
    for (const { url } of requests) {
      const named = url.path.filter((part) => part.startsWith(':')).map((part) => part.slice(1));
      expect([url.raw, url.variable.map(({ key }) => key)]).toEqual([url.raw, named]);
      expect(url.raw).toBe(`{{baseUrl}}/${url.path.join('/')}`);
    }
  });
});

interface Collection {
  item: {
    item: {
      request: { url: { raw: string; path: string[]; variable: { key: string }[] } };
    }[];
  }[];
}
