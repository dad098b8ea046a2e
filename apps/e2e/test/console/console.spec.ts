import { eventually } from '@plinth/testing/eventually';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody, personOf } from './browser';

const FIRST_PAGE_BYTES_MAX = 150_000;
const PAGE_BYTES_MAX = 180_000;
const pages = [
  ...['imports', 'exports', 'approvals', 'notifications'].map((path) => ({
    path,
    max: FIRST_PAGE_BYTES_MAX,
  })),
  ...['imports/new', 'settings', 'localization', 'entities/Contact/1'].map((path) => ({
    path,
    max: PAGE_BYTES_MAX,
  })),
  // It shows the fields of an export at once, to be dragged.
  { path: 'exports/new', max: 215_000 },
];

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
    // Each page is the first one for somebody.
    for (const { path, max } of pages) {
      await page.goto(`/console/${path}`);
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
      const bytes = await window.scriptBytes();
      expect({ path, bytes, fits: bytes > 0 && bytes < max }).toEqual({ path, bytes, fits: true });
    }

    await page.getByRole('button', { name: 'Émile Zola' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Who do you want to be?' }).waitFor();
    await page.goto('/console/imports');
    await page.waitForURL(/\/console\/sign-in/);
  });

  it('speaks the language of the browser, and another one at once when it is chosen', async () => {
    const { page } = await browser.signIn('Émile Zola', { locale: 'fr-CA' });
    await page.getByRole('heading', { name: 'Importations', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Émile Zola' }).click();
    await page.getByRole('menuitemradio', { name: 'English', exact: true }).click();
    await page.getByRole('heading', { name: 'Imports', level: 1 }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('en');

    // It is a setting of his, and no longer one after the test.
    const path = '/api/v1/settings/user/Service.Localization.PreferredCulture';
    const journey = browser.journey();
    const token = await journey.tokenOf({ tenantId: tenants.console.id, sub: 'emile' });
    await eventually(async () => (await journey.call('GET', path, { token })).body.value === 'en');
    expect((await journey.call('DELETE', path, { token })).status).toBe(204);
  });
});
