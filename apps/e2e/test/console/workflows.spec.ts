import { newId } from '@plinth/kernel/uuid';
import { browserForTests, expectForEverybody } from './browser';

const browser = browserForTests();

describe('workflows in the console', () => {
  it('are drawn with checks while drawing, and show where a thing is and where it can go', async () => {
    const entityType = `Claim${newId().slice(-12)}`;
    const { page } = await browser.signIn('Ada Lovelace');
    await page.getByRole('link', { name: 'Workflows' }).click();
    await page.getByRole('row', { name: /^Invoice/ }).waitFor();
    await expectForEverybody(page);
    await page.getByRole('textbox', { name: 'Draw a workflow for' }).fill(entityType);
    await page.getByRole('button', { name: 'Draw it' }).click();

    await page.getByRole('button', { name: 'Add a state' }).click();
    await page.getByText('The state "New state" cannot be reached from "Draft".').waitFor();
    await expectForEverybody(page);
    // By dragging: from the lower dot of a state to the upper dot of another.
    const dot = (state: string, place: 'source' | 'target') =>
      page.locator('.react-flow__node', { hasText: state }).locator(`.react-flow__handle.${place}`);
    await dot('Draft', 'source').dragTo(dot('New state', 'target'));
    await page.getByRole('button', { name: 'Move' }).waitFor();
    await page.getByText('cannot be reached').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo the last change' }).click();
    // All of it by keyboard: a state is chosen in the picture and connected beside it.
    await page.locator('.react-flow__node', { hasText: 'Draft' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /Leads to/ }).click();
    await page.getByRole('option', { name: 'New state' }).click();
    await page.getByRole('button', { name: 'Add the transition' }).click();
    await page.getByRole('textbox', { name: 'Name of the transition' }).fill('Settle');
    await page.getByText('Needs approval').click();
    await page.getByRole('textbox', { name: 'Remind them after' }).fill('2');
    await page.getByRole('textbox', { name: 'Withdraw the request after' }).fill('x');
    await expectForEverybody(page);
    await page.getByText('Needs approval').click();
    await page.getByText('is a dead end').waitFor();
    await page.locator('.react-flow__node', { hasText: 'New state' }).click();
    await page.getByText('Things may stay here for ever').click();
    await page.getByText('not right yet').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Version 1').waitFor();
    await expectForEverybody(page);

    await page.goto(`/console/entities/${entityType}/4711`);
    await page.getByRole('img', { name: `States and transitions of ${entityType}, now in Draft` }).waitFor();
    await page.getByRole('button', { name: /^Settle/ }).click();
    await page
      .getByRole('img', { name: `States and transitions of ${entityType}, now in New state` })
      .waitFor();
    await expectForEverybody(page);
  }, 120_000);
});
