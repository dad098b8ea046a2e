/// <reference lib="dom" />
import { newId } from '@plinth/kernel/uuid';
import type { Route } from 'playwright-core';
import { eventually } from '@plinth/testing/eventually';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody, respondWithProblem } from './browser';

const browser = browserForTests();

const problem = {
  type: '/problems/area-unavailable',
  status: 503,
  detail: 'The service does not respond.',
  traceId: 'c0ffee00c0ffee00c0ffee00c0ffee00',
};
const refuse = (route: Route) => respondWithProblem(route, problem);

describe('the console without the platform', () => {
  it('keeps what is written and where one goes until there is a connection again', async () => {
    const journey = browser.journey();
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const order = newId();
    const window = await browser.signIn('Ada Lovelace');
    const { page } = window;
    await page.goto(`/console/entities/Order/${order}`);
    const writing = page.getByRole('textbox', { name: 'Comment', exact: true });
    await writing.fill('Written in a tunnel');
    // What the page is for is there before the tunnel.
    await page.getByText('No followers').waitFor();
    await page.getByText('Nobody wrote anything yet').waitFor();

    await page.context().setOffline(true);
    await page.getByText('What waits is sent when it is back.').waitFor();
    // It is sent as it was then, whatever is chosen for the next one.
    const note = page.getByText('Internal note', { exact: true });
    await note.click();
    await page.getByRole('button', { name: 'Send' }).click();
    await note.click();
    await page.getByRole('button', { name: 'Follow' }).click();
    await page.getByText('1 follower').waitFor();
    await expectForEverybody(page);
    // Nothing of this page was loaded yet: what is there stays until it is.
    await page.getByRole('link', { name: 'Exports' }).click();
    await page.waitForURL(/\/console\/exports$/);
    await page.getByRole('heading', { name: `Order ${order}` }).waitFor();
    const path = `/api/v1/timeline/Order/${order}`;
    expect((await journey.call('GET', path, { token })).body.items).toEqual([]);

    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'Exports', level: 1 }).waitFor();
    await page.getByText('What waits is sent when it is back.').waitFor({ state: 'detached' });
    await page.goBack();
    await page.getByRole('article').filter({ hasText: 'Written in a tunnel' }).waitFor();
    expect((await journey.call('GET', path, { token })).body.items).toMatchObject([
      { entryType: 1, body: 'Written in a tunnel' },
    ]);
    await eventually(
      async () => (await journey.call('GET', `${path}/followers`, { token })).body.length === 1,
    );
    window.allow('ERR_INTERNET_DISCONNECTED');
  });

  it('says what is wrong while a service is away, and shows the page once it is back', async () => {
    const window = await browser.signIn('Ada Lovelace');
    const { page } = window;
    const exports = /\/api\/v1\/exports\/jobs(\?|$)/;
    await page.route(exports, refuse);
    await page.getByRole('link', { name: 'Exports' }).click();
    await page.getByText('The service does not respond.').waitFor();
    await page.getByText(problem.traceId).waitFor();
    await expectForEverybody(page);

    await page.unroute(exports);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The service does not respond.').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'New export' }).first().waitFor();

    // A list that is asked for again by itself says so all the while.
    await page.clock.install();
    const approvals = /\/api\/v1\/workflow\/approvals\?/;
    await page.route(approvals, refuse);
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByText(problem.traceId).waitFor();
    // What is below comes with it.
    await page.getByRole('button', { name: 'Let somebody decide for you' }).waitFor();
    // The one that is registered last has the request, whenever that comes.
    const again = page.waitForRequest(approvals);
    await page.route(approvals, () => undefined);
    await page.clock.fastForward(30_000);
    await again;
    await page.clock.fastForward(9_000);
    // Whatever else was on its way is there in the end, and this is not.
    await page.getByText('takes longer than usual').waitFor({ state: 'detached' });
    expect(await page.getByText(problem.traceId).count()).toBe(1);

    // What is not known is not said.
    await page.route(/unread-count/, () => undefined);
    await page.goto('/console/notifications');
    await page.getByRole('heading', { name: 'Notifications', level: 1 }).waitFor();
    expect(await page.getByText('No new notifications').count()).toBe(0);
    window.allow('503');
  });

  it('says what to do where its scripts do not come', async () => {
    const window = await browser.open();
    const { page } = window;
    await page.route('**/*.js', (route) => route.abort());
    await page.goto('/console');
    const help = page.getByRole('link', { name: 'Try again' });
    const showAfter = (milliseconds: number) =>
      page.evaluate(
        (time) =>
          document.getAnimations().forEach((one) => {
            // As the clock of the test has it: the page may have been loading for longer.
            one.pause();
            one.currentTime = time;
          }),
        milliseconds,
      );
    await showAfter(0);
    await help.waitFor({ state: 'hidden' });
    await showAfter(10_000);
    await help.waitFor();
    await expectForEverybody(page);
    // The mark is where it is before the rest of the document has come, too.
    const moves = await page.evaluate(() => {
      const main = document.querySelector('main')!;
      const top = () => document.querySelector('header')!.getBoundingClientRect().top;
      const whole = top();
      main.hidden = true;
      const begun = top();
      main.hidden = false;
      return whole - begun;
    });
    expect(moves).toBe(0);
    await page.unroute('**/*.js');

    // The application is there, and waits for the page.
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    await page.route('**/sign-in-page*.js', async (route) => {
      await held;
      await route.continue();
    });
    const texts = page.waitForResponse(/\/localization\?/);
    await help.click();
    await texts;
    // Until it would show what is below them.
    await page.evaluate(
      () => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve), 500)),
    );
    await showAfter(10_000);
    await help.waitFor();
    goOn();
    await page.getByRole('heading', { name: 'Who do you want to be?' }).waitFor();
    window.allow('ERR_FAILED');
  });

  it('keeps what is written when the session ends, and sends it once the person is back', async () => {
    const window = await browser.signIn('Ada Lovelace');
    const { page } = window;
    await page.goto(`/console/entities/Order/${newId()}`);
    await page.getByRole('textbox', { name: 'Comment', exact: true }).fill('Written for an hour');
    const credential = async () => {
      const session = await page.evaluate(() => sessionStorage.getItem('plinth-session')!);
      return `Bearer ${(JSON.parse(session) as { token: string }).token}`;
    };
    let ended = await credential();
    await page.route(/\/api\//, (route) => {
      if (route.request().headers()['authorization'] !== ended) return route.continue();
      return respondWithProblem(route, { status: 401, detail: 'It has expired.' });
    });
    await page.getByRole('button', { name: 'Send' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Sign in again' });
    await dialog.waitFor();
    await expectForEverybody(page);
    await page.keyboard.press('Escape');
    await dialog
      .getByRole('button', { name: 'Go on as Ada Lovelace' })
      .and(page.locator(':focus'))
      .press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('article').filter({ hasText: 'Written for an hour' }).waitFor();
    expect(await page.getByRole('article').count()).toBe(1);

    // Who leaves instead leaves nothing of it to the next one.
    await page.getByRole('textbox', { name: 'Comment', exact: true }).fill('For nobody else');
    ended = await credential();
    await page.getByRole('button', { name: 'Send' }).click();
    await dialog.getByRole('button', { name: 'Sign in as somebody else' }).click();
    await page.getByRole('heading', { name: 'Who do you want to be?' }).waitFor();
    await eventually(
      async () => !(await page.evaluate(() => JSON.stringify(sessionStorage))).includes('For nobody else'),
    );
    window.allow('401');
  });

  it('shows a text as it was where it could not be written, and writes it once the service is back', async () => {
    const journey = browser.journey();
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const key = `s${newId().slice(-12)}.text`;
    const overrides = '/api/v1/localization/overrides';
    const items = [{ resourceName: 'Shop', cultureName: 'en', key, value: 'As it was' }];
    expect((await journey.call('PUT', overrides, { token, body: { items } })).body.successCount).toBe(1);
    const window = await browser.signIn('Ada Lovelace');
    const { page } = window;
    await page.goto('/console/localization');
    await page.getByRole('textbox', { name: 'Search keys and texts' }).fill(key);
    const grid = page.getByRole('grid', { name: 'Texts by language' });
    await grid.getByText('As it was').first().click();
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Written with care');
    // The reader of messages is there that checks what is typed.
    await page.getByRole('button', { name: 'Save', exact: true }).and(page.locator(':enabled')).waitFor();
    await page.route(/\/localization\/overrides$/, refuse);
    await page.keyboard.press('Control+Enter');
    await page.getByText(problem.traceId).waitFor();
    await grid.getByText('As it was').first().waitFor();

    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await grid.getByText('Written with care').first().waitFor();
    await page.getByRole('button', { name: 'Undo the last change' }).waitFor();
    const { body } = await journey.call('GET', `${overrides}/Shop/en/${key}`, { token });
    expect(body.value).toBe('Written with care');
    window.allow('503');
  });
});
