import { newId } from '@plinth/kernel/uuid';
import type { Locator, Page } from 'playwright-core';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody, isPointedAt, respondWithProblem } from './browser';

const browser = browserForTests();

describe('workflows in the console', () => {
  it('are drawn with checks while drawing, and show where a thing is and where it can go', async () => {
    const entityType = `Claim${newId().slice(-12)}`;
    const window = await browser.signIn('Ada Lovelace');
    const { page } = window;
    await page.getByRole('link', { name: 'Workflows' }).click();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const pageScript = page.waitForRequest(/workflow-page-/);
    await page
      .getByRole('row', { name: /^Invoice/ })
      .getByRole('link')
      .hover();
    await pageScript;
    await expectForEverybody(page);
    // Pointing at a link asks for its page, not for what that shows.
    expect(asked.filter((one) => one.endsWith('/definitions/Invoice'))).toEqual([]);
    await page.getByRole('textbox', { name: 'Draw a workflow for' }).fill(entityType);
    await page.getByRole('button', { name: 'Draw it' }).click();

    // What could not be judged is judged once somebody can.
    let isBack = false;
    await page.route('**/validate', (route) => {
      if (isBack || !route.request().postData()?.includes('New state')) return route.continue();
      isBack = true;
      return respondWithProblem(route, { status: 500, detail: 'Not now.' });
    });
    await page.getByRole('button', { name: 'Add a state' }).click();
    await page.getByText('The state "New state" cannot be reached from "Draft".').waitFor();
    await window.complained('500');
    await expectForEverybody(page);
    // What is drawn stays where somebody comes back from another tab.
    await page.evaluate(() => globalThis.dispatchEvent(new Event('visibilitychange')));
    // By dragging: from the lower dot of a state to the upper dot of another.
    const dot = (state: string, place: 'source' | 'target') =>
      page.locator('.react-flow__node', { hasText: state }).locator(`.react-flow__handle.${place}`);
    await dot('Draft', 'source').dragTo(dot('New state', 'target'));
    await page.getByRole('button', { name: 'Move', exact: true }).waitFor();
    await page.getByText('cannot be reached').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo the last change' }).click();
    // All of it by keyboard: a state is chosen in the picture and connected beside it.
    await page.locator('.react-flow__node', { hasText: 'Draft' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /Leads to/ }).click();
    await page.getByRole('option', { name: 'New state' }).click();
    await page.getByRole('button', { name: 'Add the transition' }).click();
    const transition = page.getByRole('textbox', { name: 'Name of the transition' });
    await transition.fill('x'.repeat(101));
    await page.getByText('This is too long.').first().waitFor();
    await window.complained('422');
    await transition.fill('Settle');
    await page.getByText('Needs approval').click();
    await page.getByRole('textbox', { name: 'Remind them after' }).fill('2');
    await page.getByRole('textbox', { name: 'Withdraw the request after' }).fill('x');
    await page.getByText('Write a whole number greater than zero.').waitFor();
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
  });

  it('have approvers who are found by their names', async () => {
    const journey = browser.journey();
    const entityType = `Loan${newId().slice(-12)}`;
    const path = `/api/v1/workflow/definitions/${entityType}`;
    const tenantId = tenants.console.id;
    const [ada, emile] = await Promise.all([
      journey.tokenOf({ tenantId }),
      journey.tokenOf({ tenantId, sub: 'emile', name: 'Émile Zola' }),
    ]);
    // The platform knows whoever was here.
    expect((await journey.call('GET', '/api/v1/notifications/unread-count', { token: emile })).status).toBe(
      200,
    );
    const grant = { name: 'Grant', from: 'Asked', to: 'Granted', requiresApproval: true };
    const transitions = [{ ...grant, approvers: { users: ['emile', 'nobody'] } }];
    const saved = await journey.call('PUT', path, {
      token: ada,
      body: { initialState: 'Asked', transitions },
    });
    expect(saved.status).toBe(201);

    const window = await browser.signIn('Ada Lovelace');
    const { page } = window;
    // What is around the picture is there before what is drawn in it.
    const around = page.getByRole('heading', { name: 'Choose a state or a transition' });
    await page.route(/workflow\/definitions\/Loan/, async (route) => {
      await around.waitFor();
      await route.continue();
    });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(`/console/workflows/${entityType}`);
    await page.getByRole('button', { name: 'Grant' }).click();
    // The script that the page begins with asks what the page asks.
    expect(asked.filter((one) => one === path)).toHaveLength(1);
    await page.unroute(/workflow\/definitions\/Loan/);
    // Nor twice where that script comes after the application.
    await page.route('**/assets/start-*.js', async (route) => {
      await page.getByRole('button', { name: 'Grant' }).waitFor();
      await route.continue();
    });
    asked.splice(0);
    await page.reload();
    await page.getByRole('button', { name: 'Grant' }).click();
    expect(asked.filter((one) => one === path)).toHaveLength(1);
    const chosen = page.getByRole('list', { name: 'Who approves: people by name' });
    await chosen.getByText('Émile Zola').waitFor();
    await chosen.getByRole('button', { name: 'Remove nobody' }).click();
    await chosen.getByText('nobody').waitFor({ state: 'detached' });
    await expectForEverybody(page);

    const picker = page.getByRole('button', { name: /Who approves: people by name/ });
    await choose(page, picker, 'ada lov', 'Ada Lovelace');
    await chosen.getByText('Ada Lovelace').waitFor();
    await choose(page, picker, 'grete', 'Add the id “grete”');
    await chosen.getByText('grete').waitFor();
    await expectForEverybody(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Version 2').waitFor();
    const { body } = await journey.call('GET', `${path}?format=json`, { token: ada });
    expect(body.transitions[0].approvers.users).toEqual(['emile', expect.any(String), 'grete']);

    // What is drawn stays where somebody else saves another one, also when the page reads that, and is not saved over it.
    await page.getByRole('button', { name: 'Grant' }).click();
    await chosen.getByRole('button', { name: 'Remove grete' }).click();
    await page.getByText('Not saved').waitFor();
    const theirs = { initialState: 'Asked', transitions: [{ ...grant, name: 'Theirs' }] };
    expect((await journey.call('PUT', path, { token: ada, body: theirs })).status).toBe(200);
    await page.clock.install();
    await page.clock.fastForward(6_000);
    await page.evaluate(() => globalThis.dispatchEvent(new Event('visibilitychange')));
    await page.getByText('Version 3').waitFor();
    await page.getByText('Not saved').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Somebody else saved this workflow meanwhile').waitFor();
    await window.complained('409');
    await expectForEverybody(page);
    await page.getByRole('button', { name: 'Save mine over it' }).click();
    await page.getByText('Version 4').waitFor();
    expect((await journey.call('GET', `${path}?format=json`, { token: ada })).body.transitions).toMatchObject(
      [{ name: 'Grant', approvers: { users: ['emile', expect.any(String)] } }],
    );

    // Nor is it lost where they withdrew theirs.
    await chosen.getByRole('button', { name: 'Remove Ada Lovelace' }).click();
    await page.getByText('Not saved').waitFor();
    expect((await journey.call('DELETE', path, { token: ada })).status).toBe(204);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Somebody else saved this workflow meanwhile').waitFor();
    await window.complained('409');
    await page.getByRole('button', { name: 'Save mine over it' }).click();
    await page.getByText('Not saved', { exact: true }).waitFor({ state: 'detached' });
    expect((await journey.call('GET', `${path}?format=json`, { token: ada })).body.transitions).toMatchObject(
      [{ name: 'Grant', approvers: { users: ['emile'] } }],
    );
  });

  it('are not begun over what somebody else began meanwhile', async () => {
    const journey = browser.journey();
    const entityType = `Lease${newId().slice(-12)}`;
    const path = `/api/v1/workflow/definitions/${entityType}`;
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const window = await browser.signIn('Ada Lovelace');
    const { page } = window;
    await page.goto(`/console/workflows/${entityType}`);
    await page.getByRole('button', { name: 'Add a state' }).click();
    await page.getByText('Things may stay here for ever').click();
    await page.locator('.react-flow__node', { hasText: 'Draft' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /Leads to/ }).click();
    await page.getByRole('option', { name: 'New state' }).click();
    await page.getByRole('button', { name: 'Add the transition' }).click();
    const theirs = { initialState: 'Asked', transitions: [{ name: 'Theirs', from: 'Asked', to: 'Signed' }] };
    expect((await journey.call('PUT', path, { token, body: theirs })).status).toBe(201);

    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Somebody else saved this workflow meanwhile').waitFor();
    await window.complained('409');
    expect((await journey.call('GET', `${path}?format=json`, { token })).body).toMatchObject({
      version: 1,
      ...theirs,
    });
    await page.getByRole('button', { name: 'Save mine over it' }).click();
    await page.getByText('Version 2').waitFor();
  });
});

/** Opens a list, types a part of a name and chooses what is found, all by keyboard and each step once the one before is seen. */
async function choose(page: Page, button: Locator, text: string, option: string): Promise<void> {
  await button.focus();
  await page.keyboard.press('Enter');
  const search = page.locator('[aria-autocomplete=list]:focus');
  await search.waitFor();
  await page.keyboard.type(text);
  await page.getByRole('option', { name: option }).waitFor();
  await page.getByRole('option').nth(1).waitFor({ state: 'detached' });
  await page.keyboard.press('ArrowDown');
  await isPointedAt(page, option);
  await expectForEverybody(page);
  await search.press('Enter');
  await page.getByRole('listbox').waitFor({ state: 'detached' });
  await button.and(page.locator(':focus')).waitFor();
}
