import { newId } from '@plinth/kernel/uuid';
import type { Locator, Page } from 'playwright-core';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody } from './browser';

const browser = browserForTests();

/** The field has the focus, and says what is wrong with it to those who see it and those who hear it. */
async function expectRefused(page: Page, field: Locator, message: string): Promise<void> {
  await page.getByText(message, { exact: true }).waitFor();
  await field.and(page.locator(':focus')).waitFor();
  const description = await field.evaluate((element) =>
    (element.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent)
      .join(' '),
  );
  expect(description).toContain(message);
  expect(await field.getAttribute('aria-invalid')).toBe('true');
}

describe('forms in the console', () => {
  it('say at each field what is wrong with it before anything is sent, and what the platform refuses', async () => {
    const journey = browser.journey();
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const name = `letter ${newId()}`;
    const body = { name, content: 'Dear {{ name }}', mimeType: 'text/plain' };
    expect((await journey.call('POST', '/api/v1/templates', { token, body })).status).toBe(201);

    const window = await browser.signIn('Ada Lovelace');
    const { page } = window;
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/templates')) sent.push(request.url());
    });
    await page.goto('/console/new-template');
    const field = page.getByRole('textbox', { name: 'Name' });
    const write = page.getByRole('button', { name: 'Begin to write' });
    await write.click();
    await expectRefused(page, field, 'Fill this in.');
    await expectForEverybody(page);
    await field.fill('a/b');
    await page
      .getByText('A name has no slash, backslash or tilde, and is not “categories”.', { exact: true })
      .waitFor();
    await field.fill('x'.repeat(201));
    await field.press('Enter');
    await expectRefused(page, field, 'At most 200 characters fit here; these are 201.');
    expect(sent).toEqual([]);

    await field.fill(name);
    await write.click();
    await expectRefused(page, field, 'Template exists');
    await window.complained('409');
    await field.fill(`${name} 2`);
    await page.getByText('Template exists', { exact: true }).waitFor({ state: 'detached' });
    await write.click();
    await page.getByRole('textbox', { name: 'Source' }).waitFor();
  });

  it('show at its field what the platform refuses, also where they could not check it themselves', async () => {
    const window = await browser.signIn('Ada Lovelace');
    const { page } = window;
    await page.route(/\/assets\/shapes-/, (route) => route.abort());
    window.allow('net::ERR_FAILED');
    await page.goto('/console/template-categories');
    const field = page.getByRole('textbox', { name: 'Name of the category' });
    await field.fill('x'.repeat(101));
    await page.getByRole('button', { name: 'Create the category' }).click();
    await expectRefused(page, field, 'This is too long.');
    await expectForEverybody(page);
    await window.complained('422');
  });

  it('are sent as they were when they were sent', async () => {
    const { page } = await browser.signIn('Émile Zola');
    const typed = Promise.withResolvers<void>();
    await page.route(/\/assets\/shapes-/, async (route) => {
      await typed.promise;
      await route.continue();
    });
    await page.goto(`/console/entities/Invoice/${newId()}`);
    const asked = page.waitForRequest((request) => request.method() === 'POST');
    await page.getByRole('button', { name: /^Submit/ }).click();
    const comment = page.getByRole('textbox', { name: 'Comment on the change' });
    await comment.fill('For the next change');
    typed.resolve();
    expect((await asked).postDataJSON()).toEqual({ targetState: 'Submitted' });
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    expect(await comment.inputValue()).toBe('For the next change');
  });

  it.each([
    ['en-GB', 'Fill this in.'],
    ['fr', 'Remplissez ce champ.'],
    ['fr-CA', 'Remplissez ce champ.'],
  ])('speak %s', async (locale, message) => {
    const { page } = await browser.signIn('Ada Lovelace', { locale });
    await page.goto('/console/workflows');
    const form = page.locator('form').last();
    await form.getByRole('button').click();
    await expectRefused(page, form.getByRole('textbox'), message);
  });
});
