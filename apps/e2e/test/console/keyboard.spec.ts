/// <reference lib="dom" />
import type { Locator, Page } from 'playwright-core';
import { newId } from '@plinth/kernel/uuid';
import { tenants } from '../platform';
import { browserForTests } from './browser';

const browser = browserForTests();

const TABS_MAX = 60;

/** Presses Tab until it has the focus. */
async function reach(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor();
  for (let tabs = 0; tabs < TABS_MAX; tabs++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${TABS_MAX} times Tab did not lead to ${String(wanted)}.`);
}

async function press(page: Page, wanted: Locator): Promise<void> {
  await reach(page, wanted);
  // As long as the button says that it is busy, nobody presses it.
  await wanted.and(page.locator(':not([aria-disabled=true])')).waitFor();
  await page.keyboard.press('Enter');
}

/** The focus is somewhere, from where whoever hears the page goes on. */
const focusIsKept = (page: Page) => page.waitForFunction(() => document.activeElement !== document.body);

/** Those who hear the page are told. */
const said = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();

const COMMANDS_SCRIPT = /command-palette.*\.js$/;

/** The script of the commands comes when it is told to. */
async function holdCommands(page: Page): Promise<{ asked: Promise<unknown>; goOn: () => void }> {
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
  await page.route(COMMANDS_SCRIPT, async (route) => {
    await held;
    await route.continue();
  });
  return { asked: page.waitForRequest(COMMANDS_SCRIPT), goOn };
}

describe('the console without a mouse', () => {
  it('brings in a file, corrects a row, and undoes it', async () => {
    const series = newId().slice(-12);
    const rows = [
      'Cust. Ref,Last name,Preferred channel,Email',
      `${series}-1,Lovelace,Email,ada@example.com`,
      `${series}-2,Hopper,Post,grace(at)example.com`,
    ];
    const { page } = await browser.signIn('Ada Lovelace');
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    await press(page, page.getByRole('link', { name: 'New import' }));
    await reach(page, page.getByRole('radio', { name: 'Companies' }));
    await page.keyboard.press('ArrowRight');
    const chooser = page.waitForEvent('filechooser');
    await press(page, button('Choose a file'));
    await (
      await chooser
    ).setFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\n')) });

    await press(page, button('Field for the column Cust. Ref'));
    await page.getByRole('listbox').waitFor();
    await page.getByRole('option').and(page.locator(':focus')).waitFor();
    const externalId = page.getByRole('option', { name: /External id/ });
    while (!(await externalId.evaluate((element) => element === document.activeElement)))
      await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const check = page.waitForRequest(/\/dry-run/);
    await press(page, button('Check the rows'));
    // With a key it had to end within the time for those, however large the file is.
    expect((await check).headers()['idempotency-key']).toBeUndefined();
    await button('Import 1 row').waitFor();
    await focusIsKept(page);
    await said(page, '1 row has errors');
    await press(page, button('Import 1 row'));
    await page.getByText('Imported, but for 1 row').waitFor();
    await focusIsKept(page);
    await said(page, 'Completed with errors');

    // What is done with the corrections stands above the rows.
    await reach(page, page.getByRole('textbox', { name: 'Email, row 3' }));
    await page.keyboard.press('Control+a');
    await page.keyboard.type('grace@example.com');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await press(page, button('Import 1 corrected row'));
    await press(page, button('Import 1 row'));
    await page.getByText('All rows were imported').waitFor();
    await press(page, button('Undo this import'));
    const dialog = page.getByRole('alertdialog');
    await press(page, dialog.getByRole('button', { name: 'Undo this import' }));
    await page.getByText('1 row was removed, 0 restored and 0 kept.').waitFor();
    await focusIsKept(page);
  });

  it('approves what was asked for with the evidence in sight, and takes an entry back', async () => {
    const journey = browser.journey();
    const invoice = newId();
    const requester = await journey.tokenOf({ tenantId: tenants.console.id });
    const path = `/api/v1/workflow/Invoice/${invoice}/transition`;
    for (const targetState of ['Submitted', 'Approved'])
      await journey.call('POST', path, { token: requester, body: { targetState } });
    const { page } = await browser.signIn('Grace Hopper');
    await page.getByRole('link', { name: 'Approvals' }).waitFor();
    const commands = await holdCommands(page);
    await page.keyboard.press('Control+k');
    await commands.asked;
    // What is typed while they are on their way is for them.
    await page.keyboard.type('Approval!');
    await page.keyboard.press('Backspace');
    commands.goOn();
    await page.getByRole('dialog', { name: 'Commands' }).waitFor();
    await page.keyboard.type('s');
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    const request = page.getByRole('article').filter({ hasText: invoice });
    await press(page, request.getByRole('button', { name: 'Timeline and history' }));
    for (const text of ['The first', 'The second']) {
      const field = request.getByRole('textbox', { name: 'Comment', exact: true });
      await field.waitFor();
      while (!(await field.evaluate((element) => element === document.activeElement)))
        await page.keyboard.press(text === 'The first' ? 'Tab' : 'Shift+Tab');
      await page.keyboard.type(text);
      await press(page, request.getByRole('button', { name: 'Send' }));
      await request.getByRole('article').filter({ hasText: text }).waitFor();
    }
    const second = request.getByRole('article').filter({ hasText: 'The second' });
    await press(page, second.getByRole('button', { name: 'Delete' }));
    await press(page, page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }));
    await second.waitFor({ state: 'detached' });
    await request.getByRole('article').filter({ hasText: 'The first' }).and(page.locator(':focus')).waitFor();
    await press(page, request.getByRole('button', { name: 'Approve' }));
    await request.waitFor({ state: 'detached' });
    await focusIsKept(page);
  });

  it('has the focus in the place of what went away, unless the focus had left it', async () => {
    const { page } = await browser.signIn('Ada Lovelace');
    await page.getByRole('link', { name: 'Approvals' }).waitFor();
    // Where keys are answered, the focus is looked after too.
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Commands' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.evaluate(() => {
      const list = document.createElement('div');
      for (const name of ['first', 'second', 'disabled', 'third']) {
        const button = document.createElement('button');
        button.textContent = name;
        button.disabled = name === 'disabled';
        list.append(button);
      }
      document.getElementById('main')!.append(list);
    });
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await button('second').focus();
    await button('second').evaluate((element) => element.remove());
    // The next one cannot have it.
    await button('first').and(page.locator(':focus')).waitFor();

    await page.clock.install();
    await button('third').focus();
    await button('third').blur();
    await button('third').evaluate((element) => element.remove());
    await page.clock.runFor(1_000);
    expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
  });

  it('gives up what is being loaded by Escape', async () => {
    const { page } = await browser.signIn('Ada Lovelace');
    await page.getByRole('link', { name: 'Approvals' }).waitFor();
    const commands = await holdCommands(page);
    await page.keyboard.press('Control+k');
    await commands.asked;
    await page.keyboard.press('Escape');
    const loaded = page.waitForResponse(COMMANDS_SCRIPT);
    commands.goOn();
    // Until it would have been shown: its module has run, and React shows it at most 300 ms after what stood for it.
    const address = (await loaded).url();
    await page.evaluate(`import(${JSON.stringify(address)})`);
    await page.evaluate(
      () => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve), 500)),
    );
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Commands' }).waitFor();
  });

  it('goes on elsewhere while the commands are being loaded, and without a connection does not wait for them', async () => {
    const window = await browser.signIn('Ada Lovelace');
    const { page } = window;
    await page.goto(`/console/entities/Invoice/${newId()}`);
    const comment = page.getByRole('textbox', { name: 'Comment', exact: true });
    await comment.waitFor();
    const commands = await holdCommands(page);
    await page.keyboard.press('Control+k');
    await commands.asked;
    await page.keyboard.type('kept');
    expect(await comment.inputValue()).toBe('');
    await comment.click();
    await page.keyboard.type('Written');
    expect(await comment.inputValue()).toBe('Written');
    // What the page had left to read.
    window.allow('ERR_INTERNET_DISCONNECTED');
    await page.context().setOffline(true);
    await page.getByText('What waits is sent when it is back.').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type(' here');
    expect(await comment.inputValue()).toBe('Written here');
    await page.keyboard.press('Escape');
    await page.context().setOffline(false);
    commands.goOn();
  });
});
