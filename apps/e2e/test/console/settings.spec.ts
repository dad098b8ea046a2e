import type { Response } from 'playwright-core';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody, isPointedAt } from './browser';

const THEME = 'Service.Console.Theme';
const TIME_ZONE = 'Service.Timing.PreferredTimezone';

const isStored = (name: string) => (response: Response) =>
  response.url().endsWith(name) && response.request().method() === 'PUT';

const browser = browserForTests();

describe('settings in the console', () => {
  it('hold on every device, say where they come from, and change back where the platform refuses', async () => {
    const journey = browser.journey();
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const theme = `/api/v1/settings/tenant/${THEME}`;
    const first = await browser.signIn('Inès Martin', { colorScheme: 'light' });
    const { page } = first;
    await page.getByRole('link', { name: 'Settings' }).click();
    const appearance = page.getByRole('article', { name: 'Appearance' });
    await appearance.getByText('Not set', { exact: true }).click();
    await page.getByRole('option', { name: 'Dark' }).click();
    await appearance.getByText('Your own choice').waitFor();
    await appearance.getByRole('button', { name: 'History' }).click();
    await appearance.getByText('Set: Not set → Dark').first().waitFor();
    await appearance
      .getByText(/^Inès Martin · /)
      .first()
      .waitFor();
    const timeZone = page.getByRole('article', { name: 'Time zone' });
    await timeZone.getByRole('button', { name: /Time zone/ }).click();
    await page.getByRole('option', { name: 'Africa/Abidjan' }).waitFor();
    await page.locator('[aria-autocomplete=list]:focus').waitFor();
    await page.keyboard.type('toronto');
    await page.getByRole('option', { name: 'Africa/Abidjan' }).waitFor({ state: 'hidden' });
    await page.keyboard.press('ArrowDown');
    await isPointedAt(page, 'America/Toronto');
    await page.keyboard.press('Enter');
    await timeZone.getByText('Your own choice').waitFor();
    await expectForEverybody(page);

    const { page: another } = await browser.signIn('Inès Martin', { colorScheme: 'light' });
    await another.waitForFunction(() => document.documentElement.style.colorScheme === 'dark');

    // An administrator decides meanwhile.
    expect((await journey.call('PUT', theme, { token, body: { value: 'light' } })).status).toBe(204);
    expect((await journey.call('PUT', `${theme}/lock`, { token })).status).toBe(204);
    await appearance.getByRole('button', { name: 'Use the inherited value again' }).click();
    await appearance.getByText('Setting locked').waitFor();
    await appearance.getByText('This setting is locked at a higher level.').waitFor();
    await page.waitForFunction(() => document.documentElement.style.colorScheme === 'light');
    await first.complained('409');

    const { page: ada } = await browser.signIn('Ada Lovelace');
    await ada.getByRole('link', { name: 'Settings' }).click();
    await ada.getByRole('link', { name: 'Tenant' }).click();
    const ofTenant = ada.getByRole('article', { name: 'Appearance' });
    await ofTenant.getByText('Set for your tenant').waitFor();
    await expectForEverybody(ada);
    await ofTenant.getByRole('button', { name: 'Unlock it' }).click();
    await ofTenant.getByRole('button', { name: 'Lock it for everybody in the tenant' }).waitFor();
    const cleared = ada.waitForResponse(isStored(THEME));
    await ofTenant.getByRole('button', { name: 'Use the inherited value again' }).click();
    await ofTenant.getByText('Default').waitFor();
    // It is shown before the platform has answered, and pages of other tests are not to be light only.
    expect((await cleared).status()).toBe(204);
    // As it was, for whoever runs this again on the same platform.
    await page.reload();
    for (const [name, setting] of [
      [THEME, appearance],
      [TIME_ZONE, timeZone],
    ] as const) {
      const returned = page.waitForResponse(isStored(name));
      await setting.getByRole('button', { name: 'Use the inherited value again' }).click();
      expect((await returned).status()).toBe(204);
    }
  });
});
