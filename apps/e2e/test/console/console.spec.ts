import { browserForTests, expectForEverybody, personOf } from './browser';

const FIRST_PAGE_BYTES_MAX = 180_000;

const browser = browserForTests();

describe('the console', () => {
  it('is where the address of the platform leads, and lets in who chooses a person', async () => {
    const window = await browser.open();
    const { page } = window;
    await page.goto('/');
    await page.getByRole('heading', { name: 'Who do you want to be?' }).waitFor();
    expect(await window.scriptBytes()).toBeLessThan(FIRST_PAGE_BYTES_MAX);
    await expectForEverybody(page);

    await personOf(page, 'Émile Zola').click();
    await page.getByRole('heading', { name: 'Imports', level: 1 }).waitFor();
    await expectForEverybody(page);

    await page.getByRole('button', { name: 'Émile Zola' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Who do you want to be?' }).waitFor();
    await page.goto('/console/imports');
    await page.waitForURL(/\/console\/sign-in/);
  });

  it('speaks the language of the browser, and another one at once when it is chosen', async () => {
    const window = await browser.signIn('Ada Lovelace', { locale: 'fr-CA' });
    const { page } = window;
    await page.getByRole('heading', { name: 'Importations', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Ada Lovelace' }).click();
    await page.getByRole('menuitemradio', { name: 'English', exact: true }).click();
    await page.getByRole('heading', { name: 'Imports', level: 1 }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('en');
  });
});
