import { readFile } from 'node:fs/promises';
import { newId } from '@plinth/kernel/uuid';
import { connectToDatabase } from '../databases';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody } from './browser';

const browser = browserForTests();

describe('an export in the console', () => {
  it('writes the chosen fields in the chosen order, and its settings are found again', async () => {
    const journey = browser.journey();
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const externalId = newId();
    const company = { externalId, name: 'Blåbær AS', kind: 'Partner', isActive: true, employees: 7 };
    expect((await journey.call('POST', '/api/v1/companies', { token, body: company })).status).toBe(201);

    const { page } = await browser.signIn('Ada Lovelace');
    await page.getByRole('link', { name: 'Exports' }).click();
    await page.getByRole('link', { name: 'New export' }).first().click();
    await page.getByRole('radiogroup').getByText('Companies', { exact: true }).click();
    const fields = page.getByRole('grid', { name: 'Fields' });
    for (const name of ['Active', 'Founded on', 'Credit limit', 'Email'])
      await fields.getByText(name, { exact: true }).click();

    // The kind comes first: carried there by keyboard.
    const focusedPlace = (name: RegExp) => fields.getByRole('button', { name }).and(page.locator(':focus'));
    await fields.getByRole('button', { name: 'Drag Kind' }).focus();
    await page.keyboard.press('Enter');
    // Keys go to the places between rows once one of them has the focus.
    await focusedPlace(/^Insert/).waitFor({ state: 'attached' });
    await page.keyboard.press('Home');
    await focusedPlace(/^Insert before/).waitFor({ state: 'attached' });
    await page.keyboard.press('Enter');
    await fields.getByRole('row').first().getByText('Kind').waitFor();
    await page.getByRole('radiogroup').getByText('CSV file').click();
    // The keys go to what was added, and back when it is removed.
    const addCondition = page.getByRole('button', { name: 'Add a condition' });
    const condition = page.getByRole('group', { name: 'Condition 1' });
    await addCondition.press('Enter');
    await condition.getByRole('button', { name: /Field/ }).and(page.locator(':focus')).waitFor();
    await condition.getByRole('button', { name: 'Remove condition 1' }).press('Enter');
    await addCondition.and(page.locator(':focus')).press('Enter');
    await condition.getByRole('button', { name: /Field/ }).click();
    await page.getByRole('option', { name: 'Employees' }).click();
    await condition.getByRole('textbox', { name: 'Value' }).fill('seven');
    await condition.getByText('This cannot be read: check how it is written.').waitFor();
    await condition.getByRole('textbox', { name: 'Value' }).fill('7');
    await page.getByText('Only rows are exported where Employees is at least 7.').waitFor();
    const preset = `Short ${externalId}`;
    await page.getByRole('textbox', { name: 'Name for these settings' }).fill(preset);
    await page.getByRole('button', { name: 'Save these settings' }).click();
    await page.getByRole('button', { name: preset, exact: true }).waitFor();
    await expectForEverybody(page);

    await page.reload();
    await page.getByRole('button', { name: preset, exact: true }).click();
    await page.getByRole('textbox', { name: 'Only rows that contain' }).fill(externalId);
    await page.getByText('Only rows are exported where Employees is at least 7.').waitFor();
    await page.getByRole('button', { name: 'Export 4 fields' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    expect(text).toBe(`\uFEFFKind,External id,Name,Employees\r\nPartner,${externalId},Blåbær AS,7\r\n`);
    await expectForEverybody(page);

    await page.getByRole('link', { name: 'Exports' }).first().click();
    await page.getByRole('link', { name: 'Companies' }).first().waitFor();
    await expectForEverybody(page);
  });

  it('says that it writes its rows while none can be read, and goes on to its file', async () => {
    const journey = browser.journey();
    const { page } = await browser.signIn('Ada Lovelace');
    await page.goto('/console/exports/new');
    await page.getByRole('radiogroup').getByText('Companies', { exact: true }).click();
    const owner = await connectToDatabase(journey, 'contacts');
    try {
      await owner.query('BEGIN');
      // No row can be read until this ends.
      await owner.query('LOCK TABLE company IN ACCESS EXCLUSIVE MODE');
      await page.getByRole('button', { name: /^Export \d+ fields$/ }).click();
      await page.getByRole('progressbar', { name: 'Writing the rows' }).waitFor();
      await page.getByText('0 rows done').waitFor();
      await expectForEverybody(page);
    } finally {
      await owner.end();
    }
    await page.getByRole('button', { name: 'Download' }).waitFor();
  });
});
