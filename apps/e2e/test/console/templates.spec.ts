import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody } from './browser';

const browser = browserForTests();

describe('templates in the console', () => {
  it('are copied from the gallery, written beside their preview, published, and compared', async () => {
    const name = `invoice ${newId()}`;
    const { page } = await browser.signIn('Ada Lovelace');
    await page.getByRole('link', { name: 'Templates' }).click();
    await page.getByRole('link', { name: 'Gallery' }).first().click();
    await page.getByRole('link', { name: 'Invoice', exact: true }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByText('English (United Kingdom)').last().click();
    await page.getByText('Français (Canada)').last().click();
    await expectForEverybody(page);
    await page.getByRole('button', { name: 'Copy to your templates' }).click();

    const preview = page.getByRole('region', { name: 'Preview' });
    const sheet = preview.frameLocator('iframe');
    await sheet.getByRole('heading', { name: 'Invoice 2026-0417' }).waitFor();
    // The policy of the page allows no inline styles, and the document looks as it should.
    const sender = sheet.getByText('Northwind Studio').first();
    // Each change of the sample data shows the page in a new frame.
    await eventually(
      async () =>
        (await sender.evaluate((element) => getComputedStyle(element).color)) === 'rgb(31, 79, 216)',
    );

    // An error is underlined where it is, and gone when it is corrected.
    const source = page.getByRole('textbox', { name: 'Source' });
    // Who passes through by Tab is not held, and changes nothing.
    await source.focus();
    await page.keyboard.press('Tab');
    await page.waitForFunction(() => !document.activeElement!.closest('.cm-editor'));
    expect(await page.getByText('Not saved').count()).toBe(0);
    await source.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('{{ total | nonsense }}');
    await page.getByText(/^Line \d+, column \d+/).waitFor();
    await page.locator('.cm-lintRange-error').waitFor();
    await expectForEverybody(page);
    for (let index = 0; index < 'nonsense }}'.length; index++) await page.keyboard.press('Backspace');
    await page.keyboard.type('cur');
    await page.getByRole('option', { name: 'currency' }).click();
    await page.keyboard.type('("EUR") }}<p>A new line</p>');
    await sheet.getByText('A new line').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Not saved').waitFor({ state: 'detached' });
    await page.getByRole('status').getByText('The draft was saved.').waitFor();
    await page.locator('.cm-lint-marker').waitFor({ state: 'detached' });

    await preview.getByRole('tab', { name: 'PDF' }).click();
    await preview.getByRole('img', { name: 'Page 1' }).waitFor();
    await preview.getByText('A new line').waitFor({ state: 'attached' });
    // Shown anew while the one before is let go.
    await preview.getByRole('tab', { name: 'Excel' }).click();
    await preview.getByRole('tab', { name: 'PDF' }).click();
    await preview.getByText('A new line').waitFor({ state: 'attached' });
    await preview.getByRole('tab', { name: 'Excel' }).click();
    await preview.getByRole('cell', { name: 'Product photographs' }).waitFor();
    await preview.getByRole('tab', { name: 'Sample data' }).click();
    await preview.getByRole('textbox', { name: 'number' }).fill('77');
    await expectForEverybody(page);
    await preview.getByRole('tab', { name: 'Page' }).click();
    await sheet.getByRole('heading', { name: 'Invoice 77' }).waitFor();

    await page.getByRole('button', { name: 'State' }).click();
    await page.getByText('It needs no review: publish it.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('main').getByRole('status').getByText('Published').waitFor();

    // The text goes on being written where it was; what is not saved is not published.
    await source.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('<p>Another line</p>');
    await page.keyboard.press('Control+s');
    await page.getByText('Not saved').waitFor({ state: 'detached' });
    await source.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('<p>One more</p>');
    await page.getByText('Save the text first').waitFor();
    expect(await page.getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true);
    await page.keyboard.press('Control+s');
    await page.getByText('Save the text first').waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Publish' }).isEnabled()).toBe(true);

    await page.getByRole('link', { name: 'Revisions' }).click();
    await page.getByText('One more').first().waitFor();
    await expectForEverybody(page);
    await page.getByText('Page', { exact: true }).click();
    await page
      .getByRole('region', { name: 'After' })
      .frameLocator('iframe')
      .locator('[data-changed]', { hasText: 'One more' })
      .waitFor();
    await page.getByRole('link', { name: 'Languages' }).click();
    await page
      .getByRole('region', { name: 'Français' })
      .frameLocator('iframe')
      .getByText('Échéance')
      .waitFor();
    await expectForEverybody(page);

    await page.getByRole('link', { name: 'Templates' }).first().click();
    await page.getByRole('link', { name: 'Categories' }).click();
    await page.getByRole('textbox', { name: 'Name of the category' }).fill(name);
    await page.getByRole('button', { name: 'Create the category' }).click();
    await page.getByRole('button', { name: `Rename ${name}` }).click();
    await page.getByRole('table').getByRole('textbox').fill(`${name} 2`);
    await page.getByRole('button', { name: 'Save' }).click();
    const category = page.getByRole('row', { name: `${name} 2` });
    await category.getByRole('button', { name: `Rename ${name} 2` }).waitFor();
    await expectForEverybody(page);
    await category.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await category.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Templates' }).first().click();
    await page.getByRole('searchbox').fill(name);
    await page.getByRole('row').filter({ hasText: name }).nth(1).waitFor();
    await expectForEverybody(page);

    // On a phone the preview is far below, and comes when one comes to it.
    await page.setViewportSize({ width: 360, height: 640 });
    const read = page.waitForResponse(/\/validate\?/);
    await page.getByRole('link', { name }).first().click();
    await read;
    expect(await preview.getByRole('tablist').count()).toBe(0);
    await preview.scrollIntoViewIfNeeded();
    await preview.getByRole('tablist').waitFor();

    // By keyboard too, where nothing is scrolled to: the focus goes on to its tabs.
    await page.goBack();
    await page.getByRole('link', { name }).first().click();
    await preview.getByRole('button', { name: 'Preview' }).waitFor();
    // There, or on the way: what asked for the preview is gone, and its tabs are not there yet.
    const isThere = () =>
      page.evaluate(() => {
        const isOnTheWay = !document.querySelector('.preview > button');
        const { activeElement: place } = document;
        return place!.matches(isOnTheWay ? '.preview *, body, [tabindex="-1"]:not([role])' : '.preview *');
      });
    let steps = 0;
    do {
      // Out of the source, where Tab indents.
      await page.keyboard.press('Escape');
      await page.keyboard.press('Tab');
    } while (++steps < 60 && !(await isThere()));
    await preview.getByRole('tab', { selected: true }).and(page.locator(':focus')).waitFor();
  });

  it('are a plain field for fingers, until it is touched or has errors', async () => {
    const name = `note ${newId()}`;
    const journey = browser.journey();
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const body = { name, content: '<p>First</p>\n<p>Second</p>\n' };
    expect((await journey.call('PUT', `/api/v1/templates/${name}`, { token, body })).status).toBe(201);
    const phone = { hasTouch: true, viewport: { width: 360, height: 740 } };
    const window = await browser.signIn('Ada Lovelace', phone);
    const { page } = window;
    const read = page.waitForResponse(/\/validate$/);
    await page.goto(`/console/templates/${encodeURIComponent(name)}`);
    await read;
    const field = page.locator('textarea').and(page.getByRole('textbox', { name: 'Source' }));
    expect(await field.inputValue()).toBe(body.content);
    await expectForEverybody(page);
    const scripts = await page.evaluate(() =>
      performance.getEntriesByType('resource').map((one) => one.name),
    );
    expect(scripts.filter((one) => /code-editor/.test(one))).toEqual([]);

    // What is written until the editor is there is in it, and goes on there.
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    await page.route(/code-editor.*\.js$/, async (route) => {
      await held;
      await route.continue();
    });
    await field.tap();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('<p>Third');
    goOn();
    // Also between the state of the editor and its view.
    const meanwhile = ' while the editor comes in its pieces'.repeat(4);
    await page.keyboard.type(meanwhile);
    const editor = page.locator('.cm-content').and(page.getByRole('textbox', { name: 'Source' }));
    await editor.and(page.locator(':focus')).waitFor();
    await page.keyboard.type(' time');
    await editor.getByText(' time').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Not saved', { exact: true }).waitFor({ state: 'detached' });
    const { body: saved } = await journey.call('GET', `/api/v1/templates/${name}`, { token });
    const third = `<p>Third${meanwhile} time`;
    expect(saved.draft.content).toBe(body.content + third);

    // Publishing is another version of the same text, over which nobody is asked.
    const published = await journey.call('POST', `/api/v1/templates/${name}/publish`, { token });
    expect(published.status).toBe(204);
    const textOf = async () =>
      (await journey.call('GET', `/api/v1/templates/${name}`, { token })).body.draft?.content;
    await page.keyboard.type(' again');
    await page.keyboard.press('Control+s');
    await eventually(async () => (await textOf()) === `${body.content}${third} again`);
    await page.getByText('Not saved', { exact: true }).waitFor({ state: 'detached' });

    // Letters that come as soon as those before them are drawn stay, and are saved by who asks for it in that moment.
    await page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          const keys = { key: 's', ctrlKey: true, bubbles: true, cancelable: true };
          const drawing = new MutationObserver(async () => {
            if (!document.querySelector('.source-bar [role=status]')!.textContent.includes('Not saved'))
              return;
            drawing.disconnect();
            document.execCommand('insertText', false, ' again');
            // Until the editor knows it.
            await Promise.resolve();
            document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', keys));
            resolve();
          });
          drawing.observe(document.body, { childList: true, subtree: true });
          document.execCommand('insertText', false, ' and');
        }),
    );
    await eventually(async () => (await textOf()) === `${body.content}${third} again and again`);
    await page.getByText('Not saved', { exact: true }).waitFor({ state: 'detached' });

    // Where somebody else saves it meanwhile, it is up to this person whose text stays.
    const saveTheirs = () =>
      journey.call('PUT', `/api/v1/templates/${name}`, { token, body: { name, content: '<p>Theirs</p>' } });
    const overtaken = page.getByText('Somebody else saved this text meanwhile');
    await saveTheirs();
    await page.keyboard.type(' by me');
    await page.keyboard.press('Control+s');
    await overtaken.waitFor();
    await expectForEverybody(page);
    await page.getByRole('button', { name: 'Save mine over it' }).click();
    await page.getByText('Not saved', { exact: true }).waitFor({ state: 'detached' });
    const { body: mine } = await journey.call('GET', `/api/v1/templates/${name}`, { token });
    expect(mine.draft.content).toBe(`${body.content}${third} again and again by me`);
    await editor.and(page.locator(':focus')).waitFor();
    await saveTheirs();
    await editor.click();
    await page.keyboard.type('mine');
    await page.keyboard.press('Control+s');
    await page.getByRole('button', { name: 'Take theirs' }).click();
    await overtaken.waitFor({ state: 'detached' });
    await editor.getByText('<p>Theirs</p>').waitFor();
    await editor.and(page.locator(':focus')).waitFor();
    await page.getByText('Their text is here now').waitFor({ state: 'attached' });
    window.allow('409');

    // Errors are underlined, which a field cannot do.
    const wrong = { name, content: '<p>{{ total | nonsense }}</p>' };
    expect((await journey.call('PUT', `/api/v1/templates/${name}`, { token, body: wrong })).status).toBe(200);
    await page.reload();
    await page.locator('.cm-lintRange-error').waitFor();
  });
});
