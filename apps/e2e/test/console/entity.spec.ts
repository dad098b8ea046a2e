import { readFile } from 'node:fs/promises';
import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody } from './browser';

const browser = browserForTests();

describe('the timeline of an entity in the console', () => {
  it('has threads with files, which are downloaded again, and people who follow it', async () => {
    const address = `/console/entities/Order/${newId()}`;
    const window = await browser.signIn('Ada Lovelace');
    const { page: ada } = window;
    await ada.goto(address);
    await ada.getByText('No followers').waitFor();
    const followed = ada.waitForResponse((response) => response.url().endsWith('/follow'));
    await ada.getByRole('button', { name: 'Follow' }).click();
    await ada.getByText('1 follower').waitFor();
    // It is shown before the platform has answered.
    await followed;
    // What is written is there after a reload, and after a look at something else, where it is not about that.
    const writing = ada.getByRole('textbox', { name: 'Comment', exact: true });
    await writing.fill('Who has the contract?');
    await ada.reload();
    await eventually(async () => (await writing.inputValue()) === 'Who has the contract?');
    await ada.keyboard.press('Control+k');
    await ada.getByRole('dialog', { name: 'Commands' }).waitFor();
    const other = `Order ${newId()}`;
    await ada.keyboard.type(other);
    await ada.getByRole('menuitem', { name: `Open ${other}` }).waitFor();
    await ada.keyboard.press('Enter');
    await ada.getByText('No followers').waitFor();
    expect(await writing.inputValue()).toBe('');
    await ada.goBack();
    await eventually(async () => (await writing.inputValue()) === 'Who has the contract?');
    // Where its response is lost, and the page left, it is sent again, and is there once.
    let entries = 0;
    const { promise: stored, resolve: store } = Promise.withResolvers<void>();
    await ada.route(/\/timeline\/Order\//, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      if (entries++ === 0) {
        await route.fetch();
        store();
      }
      await route.abort();
    });
    await ada.getByRole('button', { name: 'Send' }).click();
    await stored;
    await ada.reload();
    await eventually(async () => (await writing.inputValue()) === 'Who has the contract?');
    await ada.unroute(/\/timeline\/Order\//);
    window.allow('ERR_FAILED');
    await ada.getByRole('button', { name: 'Send' }).click();
    await eventually(async () => (await writing.inputValue()) === '');
    const question = ada.getByRole('article').filter({ hasText: 'Who has the contract?' });
    await question.waitFor();
    await ada.reload();
    await question.waitFor();
    expect(await writing.inputValue()).toBe('');

    const { page: grace } = await browser.signIn('Grace Hopper');
    await grace.goto(address);
    await grace
      .getByRole('article')
      .filter({ hasText: 'Who has the contract?' })
      .getByRole('button', { name: 'Reply' })
      .click();
    await grace.getByRole('textbox', { name: 'Reply' }).and(grace.locator(':focus')).waitFor();
    const content = 'Between North and South';
    const chooser = grace.waitForEvent('filechooser');
    await grace.getByRole('article').getByRole('button', { name: 'Attach a file' }).click();
    // Longer than any window.
    const name = `contract, ${'signed by both of us, '.repeat(8)}.txt`;
    const file = { name, mimeType: 'text/plain', buffer: Buffer.from(content) };
    await (await chooser).setFiles(file);
    await grace.getByRole('listitem').filter({ hasText: name }).waitFor();
    await grace.getByRole('textbox', { name: 'Reply' }).fill('Here it is');
    await expectForEverybody(grace);
    await grace.getByRole('article').getByRole('button', { name: 'Reply' }).last().click();
    await grace.getByRole('textbox', { name: 'Reply' }).waitFor({ state: 'detached' });
    await grace.getByRole('button', { name: 'Reply' }).and(grace.locator(':focus')).waitFor();

    // It is told to the one who follows, below what it replies to.
    const reply = question.getByRole('article').filter({ hasText: 'Here it is' });
    await reply.waitFor();
    await expectForEverybody(ada);
    const download = ada.waitForEvent('download');
    await reply.getByRole('button', { name: `${name} 23 bytes` }).click();
    expect((await download).suggestedFilename()).toBe(name);
    expect(await readFile(await (await download).path(), 'utf8')).toBe(content);
    await ada.getByRole('link', { name: /^Notifications/ }).click();
    await ada.getByText('Here it is').first().waitFor();
  });

  it('takes the next comment while it is still being read with the one before', async () => {
    const journey = browser.journey();
    const entity = `Order/${newId()}`;
    const entries = `/api/v1/timeline/${entity}`;
    const { page } = await browser.signIn('Ada Lovelace');
    await page.goto(`/console/entities/${entity}`);
    await page.getByText('Nobody wrote anything yet').waitFor();
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    await page.route(`**${entries}?*`, async (route) => {
      await held;
      await route.continue();
    });
    const writing = page.getByRole('textbox', { name: 'Comment', exact: true });
    const send = page.getByRole('button', { name: 'Send' });
    await writing.fill('The first');
    await send.press('Enter');
    await eventually(async () => (await writing.inputValue()) === '');
    await writing.fill('The second');
    await send.press('Enter');
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    await eventually(async () => (await journey.call('GET', entries, { token })).body.totalCount === 2);
    goOn();
    await page.getByRole('article').filter({ hasText: 'The second' }).waitFor();
  });

  it('is asked for once, also where its live updates are there before it', async () => {
    const journey = browser.journey();
    const entity = `Order/${newId()}`;
    const { page } = await browser.signIn('Ada Lovelace');
    // What the page of the sign-in still asks does not count.
    await page.goto('about:blank');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const timesAsked = (path: string) => asked.filter((one) => one === path).length;
    const updates = page.waitForResponse((response) => response.url().endsWith(`${entity}/events`));
    const count = page.waitForRequest((request) => request.url().endsWith('/unread-count'));
    // What is still being read is not asked for again.
    const state = page.waitForResponse((response) => response.url().endsWith(`${entity}/transitions`));
    const entries = `/api/v1/timeline/${entity}`;
    await page.route(`**${entries}?*`, async (route) => {
      await updates;
      await route.continue();
    });
    await page.goto(`/console/entities/${entity}`);
    await Promise.all([updates, count, state.then((response) => response.finished())]);
    await page.getByText('Nobody wrote anything yet').waitFor();
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const body = { entryType: 0, body: 'Once' };
    expect((await journey.call('POST', `${entries}/entries`, { token, body })).status).toBe(201);
    await page.getByRole('article').filter({ hasText: 'Once' }).waitFor();
    // Each once at first, and what the entry may have changed once more.
    expect(timesAsked(entries)).toBe(2);
    expect(timesAsked(`/api/v1/workflow/${entity}/transitions`)).toBe(2);
    expect(timesAsked('/api/v1/notifications/unread-count')).toBe(1);
  });
});
