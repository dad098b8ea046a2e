import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { allEndpoints, allProblems } from '@plinth/contracts/all';
import { platformEndpoints } from '@plinth/contracts/platform/endpoints';
import {
  closeAll,
  sendJson,
  startGateway,
  startUpstream,
  type ReceivedRequest,
  receive,
} from './start-gateway';

afterEach(closeAll);

const CHROMIUM = findOrInstall('chromium');

/** What a person would do on the page, in a real browser that can reach nothing but the gateway. */
const VISIT = `
import { launch } from 'puppeteer-core';
const [executablePath, url] = process.argv.slice(1);
const browser = await launch({ executablePath, args: ['--no-sandbox', '--proxy-server=127.0.0.1:1', '--proxy-bypass-list=127.0.0.1'] });
const page = await browser.newPage();
const errors = [];
const requested = new Set();
page.on('pageerror', (error) => errors.push(error.message));
page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
page.on('request', (request) => requested.add(new URL(request.url()).origin));
await page.goto(url + '/docs');
await page.waitForSelector('#index a');
const endpoints = await page.$$eval('#index a', (links) => links.length);
await page.type('#search', 'settings read one');
const found = await page.$$eval('#index a', (links) => links.map((link) => link.hash));
await page.click('#get-token');
await page.waitForFunction(() => document.getElementById('token').value !== '');
await page.evaluate(() => { location.hash = '#putSetting'; });
await page.waitForSelector('.try');
await page.select('.try select', 'user');
await page.type('.try input[aria-label="name"]', 'Service.Timing.PreferredTimezone');
await page.click('.try button');
await page.waitForSelector('.try .status');
const status = await page.$eval('.try .status', (element) => element.textContent);
await browser.close();
console.log(JSON.stringify({ endpoints, found, status, errors, requested: [...requested] }));
`;

describe('GET /docs', () => {
  it('works in a browser without internet access: search, token, and a request', async () => {
    if (!CHROMIUM) throw new Error('Chromium is not available to the tests; set PUPPETEER_EXECUTABLE_PATH.');
    const received: ReceivedRequest[] = [];
    const settings = await startUpstream((request, response) => {
      void receive(request).then((receivedRequest) => {
        received.push(receivedRequest);
        sendJson(response, 200, { value: true });
      });
    });
    const { url } = await startGateway({ settings }, {}, { endpoints: allEndpoints, problems: allProblems });
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      VISIT,
      CHROMIUM,
      url,
    ]);
    const visit = JSON.parse(stdout) as Record<string, unknown>;
    const count = Object.values(allEndpoints).reduce(
      (sum, endpoints) => sum + Object.keys(endpoints).length,
      0,
    );
    expect(visit).toEqual({
      endpoints: count + Object.keys(platformEndpoints).length + 2,
      found: ['#getSettings', '#getSetting'],
      status: '200 OK',
      errors: [],
      requested: [url],
    });
    expect(received[0]).toMatchObject({
      method: 'PUT',
      url: '/api/v1/settings/user/Service.Timing.PreferredTimezone',
      claims: { caller: { userId: 'ada', permissions: ['*'] } },
    });
  }, 60_000);
});
