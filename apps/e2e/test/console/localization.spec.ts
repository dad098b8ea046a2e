import type { Route } from 'playwright-core';
import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { connectToDatabase } from '../databases';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody, respondWithProblem } from './browser';

const browser = browserForTests();

describe('texts in the console', () => {
  it('are found, said in other words, checked while they are typed, changed together, and as before again', async () => {
    const journey = browser.journey();
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const series = `s${newId().slice(-12)}`;
    const items = [1, 2, 3].map((number) => ({
      resourceName: 'Shop',
      cultureName: 'en',
      key: `${series}.text${number}`,
      value: `Offer ${number} for {name}`,
    }));
    const overrides = '/api/v1/localization/overrides';
    expect((await journey.call('PUT', overrides, { token, body: { items } })).body.successCount).toBe(3);
    const valueOf = async (number: number) => {
      const path = `${overrides}/Shop/en/${series}.text${number}`;
      return (await journey.call('GET', path, { token })).body.value as unknown;
    };

    const { page } = await browser.signIn('Ada Lovelace');
    const loading = page.waitForRequest((request) => new URL(request.url()).pathname === '/localization');
    await page.reload();
    // Asked once more: the response of a page that was left cannot be read.
    const { resources } = (await (await fetch((await loading).url())).json()) as { resources: object };
    expect(Object.keys(resources)).toContain('Console');
    expect(Object.keys(resources)).not.toContain('Shop');

    await page.getByRole('link', { name: 'Localization' }).click();
    const grid = page.getByRole('grid', { name: 'Texts by language' });
    await page.getByRole('textbox', { name: 'Search keys and texts' }).fill('actions.signOut');
    await grid.getByText('actions.signOut').waitFor();
    await expectForEverybody(page);

    // The reader of the service says what it would refuse.
    await grid.getByText('Sign out', { exact: true }).first().click();
    const editor = page.getByRole('region', { name: /actions\.signOut/ });
    await editor.getByRole('textbox').fill('Leave, {name}');
    await editor.getByText('The original text has no such placeholders: {name}').waitFor();
    expect(await editor.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await expectForEverybody(page);
    await page.keyboard.press('Escape');
    await grid.and(page.locator(':focus')).waitFor();

    await page.getByRole('textbox', { name: 'Search keys and texts' }).fill(series);
    await grid.getByText(`${series}.text3`).waitFor();
    await grid.focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+Space');
    await page.getByRole('heading', { name: '3 texts selected' }).waitFor();
    // The keys lead to what can be seen, also with the fields above the grid.
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(() => {
      const { bottom } = document.querySelector('[role=grid]')!.getBoundingClientRect();
      // Windows scroll by whole pixels, and texts of some fonts are a part of one higher.
      return Math.floor(bottom) <= innerHeight;
    });
    const find = page.getByRole('textbox', { name: 'Find' });
    while (!(await find.evaluate((element) => element === document.activeElement)))
      await page.keyboard.press('Shift+Tab');
    await page.keyboard.type('Offer');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Bargain');
    await expectForEverybody(page);
    await page.getByRole('button', { name: 'Replace in 3 texts' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await grid.getByText('Bargain 2 for {name}').waitFor();
    await page.getByRole('button', { name: 'Undo the last 3 changes' }).waitFor();
    expect(await valueOf(3)).toBe('Bargain 3 for {name}');

    await page.getByRole('button', { name: 'Undo the last 3 changes' }).click();
    await grid.getByText('Offer 2 for {name}').waitFor();
    await page.getByRole('button', { name: /^Undo/ }).waitFor({ state: 'detached' });
    expect(await valueOf(3)).toBe('Offer 3 for {name}');
  });

  it('are sent again after a failure, also where another one was saved meanwhile, and undone one after the other', async () => {
    const journey = browser.journey();
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const series = `s${newId().slice(-12)}`;
    const items = [1, 2].map((number) => ({
      resourceName: 'Shop',
      cultureName: 'en',
      key: `${series}.text${number}`,
      value: `Offer ${number}`,
    }));
    const overrides = '/api/v1/localization/overrides';
    expect((await journey.call('PUT', overrides, { token, body: { items } })).body.successCount).toBe(2);
    const expectValue = (number: number, value: string) =>
      eventually(async () => {
        const path = `${overrides}/Shop/en/${series}.text${number}`;
        return (await journey.call('GET', path, { token })).body.value === value;
      });

    const window = await browser.signIn('Ada Lovelace');
    const { page } = window;
    await page.getByRole('link', { name: 'Localization' }).click();
    await page.getByRole('textbox', { name: 'Search keys and texts' }).fill(series);
    const grid = page.getByRole('grid', { name: 'Texts by language' });
    const write = async (former: string, text: string) => {
      await grid.getByText(former, { exact: true }).click();
      const editor = page.getByRole('region', { name: new RegExp(series) });
      await editor.getByRole('textbox').fill(text);
      await editor.getByRole('button', { name: 'Save' }).click();
      await grid.getByText(text, { exact: true }).waitFor();
    };
    let goOn = () => {};
    const held = new Promise<void>((resolve) => (goOn = resolve));
    await page.route(
      `**${overrides}`,
      async (route) => {
        await held;
        await respondWithProblem(route, { status: 404, detail: 'Nothing is there.' });
      },
      { times: 1 },
    );
    await write('Offer 1', 'Bargain 1');
    await write('Offer 2', 'Bargain 2');
    goOn();
    await grid.getByText('Offer 1', { exact: true }).waitFor();
    await expectValue(2, 'Bargain 2');
    await expectValue(1, 'Offer 1');
    await page.getByRole('button', { name: 'Try again' }).click();
    await grid.getByText('Bargain 1', { exact: true }).waitFor();
    await expectValue(1, 'Bargain 1');
    await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Undo the last change' }).click();
    await expectValue(1, 'Offer 1');
    await page.getByRole('button', { name: 'Undo the last change' }).click();
    await expectValue(2, 'Offer 2');
    await page.getByRole('button', { name: /^Undo/ }).waitFor({ state: 'detached' });

    // What somebody else writes is written over by those only who want that.
    const theirs = { ...items[0]!, value: 'Theirs' };
    expect((await journey.call('PUT', overrides, { token, body: { items: [theirs] } })).status).toBe(207);
    await grid.getByText('Offer 1', { exact: true }).click();
    const editor = page.getByRole('region', { name: new RegExp(series) });
    await editor.getByRole('textbox').fill('Mine');
    await editor.getByRole('button', { name: 'Save' }).click();
    const overtaken = page.getByRole('alert').filter({ hasText: 'Somebody else wrote a text meanwhile' });
    await overtaken.getByText('yours: “Mine”').waitFor();
    await grid.getByText('Theirs', { exact: true }).waitFor();
    await expectForEverybody(page);
    await overtaken.getByRole('button', { name: 'Write yours over it' }).click();
    await overtaken.waitFor({ state: 'detached' });
    await expectValue(1, 'Mine');

    // Nor is it taken away.
    const theirsAgain = { ...theirs, value: 'Theirs again' };
    await journey.call('PUT', overrides, { token, body: { items: [theirsAgain] } });
    await grid.getByText('Mine', { exact: true }).click();
    await editor.getByRole('button', { name: 'Delete' }).click();
    await overtaken.getByText('yours: the original again, or no text').waitFor();
    await window.complained('409');
    await grid.getByText('Theirs again', { exact: true }).waitFor();
    await overtaken.getByRole('button', { name: 'Leave theirs' }).click();
    await expectValue(1, 'Theirs again');

    // Nor by who goes on writing before they are told.
    let tell = () => {};
    const untold = new Promise<void>((resolve) => (tell = resolve));
    await page.route(`**${overrides}`, (route) => untold.then(() => route.continue()), { times: 1 });
    await journey.call('PUT', overrides, { token, body: { items: [theirs] } });
    await write('Theirs again', 'Mine once more');
    await grid.getByText('Mine once more', { exact: true }).click();
    await editor.getByRole('textbox').fill('Mine at last');
    tell();
    await overtaken.getByText('yours: “Mine once more”').waitFor();
    await grid.getByText('Theirs', { exact: true }).waitFor();
    await editor.getByRole('button', { name: 'Save' }).click();
    await overtaken.getByText('yours: “Mine at last”').waitFor();
    await overtaken.getByRole('button', { name: 'Leave theirs' }).click();
    await grid.getByText('Theirs', { exact: true }).waitFor();
    await expectValue(1, 'Theirs');

    // What somebody selects follows what they write themselves.
    await grid.focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Space');
    await page.getByRole('heading', { name: '1 text selected' }).waitFor();
    await write('Theirs', 'Mine again');
    await page.getByRole('textbox', { name: 'Find' }).fill('Mine');
    await page.getByRole('textbox', { name: 'Replace by' }).fill('Ours');
    await page.getByRole('button', { name: 'Replace in 1 text' }).click();
    await expectValue(1, 'Ours again');
    expect(await overtaken.count()).toBe(0);

    // Whoever does not know whether a text was written knows it with the next list, whoever asks for that.
    const list = /\/localization\/texts\?/;
    const isAway = (route: Route) => respondWithProblem(route, { status: 404, detail: 'Nothing is there.' });
    await page.route(list, isAway);
    await page.route(`**${overrides}`, (route) => respondWithProblem(route, { status: 500, detail: 'No.' }), {
      times: 1,
    });
    const notRead = page.waitForResponse(list);
    await grid.getByText('Ours again', { exact: true }).click();
    await editor.getByRole('textbox').fill('Perhaps');
    await editor.getByRole('button', { name: 'Save' }).click();
    await notRead;
    await page.unroute(list);
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    // A list that was not asked for before, so that it is read in any case: it is here once the other text is gone.
    await page.getByRole('textbox', { name: 'Search keys and texts' }).fill(`${series}.text1`);
    await grid.getByText(`${series}.text2`).waitFor({ state: 'detached' });
    await journey.call('PUT', overrides, { token, body: { items: [theirs] } });
    await grid.getByText('Ours again', { exact: true }).click();
    await editor.getByRole('textbox').fill('Mine over theirs');
    await editor.getByRole('button', { name: 'Save' }).click();
    await overtaken.getByText('yours: “Mine over theirs”').waitFor();
    await expectValue(1, 'Theirs');
    await window.complained('500');
  });

  it('are marked where the platform says something else since they were written', async () => {
    const journey = browser.journey();
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const key = 'actions.retry';
    const path = `/api/v1/localization/overrides/Platform/en/${key}`;
    const body = { value: 'Once more' };
    expect((await journey.call('PUT', path, { token, body })).status).toBeLessThan(300);
    // As after an update of the platform.
    const database = await connectToDatabase(journey, 'localization');
    await database.query(
      `UPDATE override SET replaced_value = 'Retry' WHERE tenant_id = $1 AND resource_name = 'Platform' AND key = $2`,
      [tenants.console.id, key],
    );
    await database.end();

    const { page } = await browser.signIn('Ada Lovelace');
    await page.getByRole('link', { name: 'Localization' }).click();
    await page.getByRole('button', { name: /Texts to show/ }).click();
    await page.getByRole('option', { name: 'Original changed since' }).click();
    const grid = page.getByRole('grid', { name: 'Texts by language' });
    await grid.getByText(key).waitFor();
    await grid.getByRole('img', { name: 'The original changed since you wrote this' }).waitFor();
    await grid.getByText('Once more').click();
    const editor = page.getByRole('region', { name: new RegExp(key) });
    await editor.getByText('When you wrote it, the original was: Retry').waitFor();
    await expectForEverybody(page);
    await editor.getByRole('button', { name: 'Use the original text again' }).click();
    await grid.getByText('Once more').waitFor({ state: 'detached' });
    // The grid shows it before the platform has answered.
    await eventually(async () => (await journey.call('GET', path, { token })).body.value !== 'Once more');
  });
});
