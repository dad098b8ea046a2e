import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Page } from 'playwright-core';
import { onCloseAll } from './start-gateway';

const node = join(__dirname, '../../..', 'node_modules/.bin/node');

/** Runs a real OpenID provider; returns its address. Its tokens are meant for the audience. */
export async function runProvider(audience?: string): Promise<{ issuer: string; end: () => void }> {
  const args = [join(__dirname, 'oidc-provider.mjs'), ...(audience === undefined ? [] : [audience])];
  const provider = spawn(node, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const [issuer] = (await once(createInterface(provider.stdout!), 'line')) as [string];
  return { issuer, end: () => void provider.kill() };
}

/** The same until the end of the test. */
export async function startProvider(audience?: string): Promise<string> {
  const { issuer, end } = await runProvider(audience);
  onCloseAll(end);
  return issuer;
}

/** The environment of a gateway at which people sign in at this provider only. */
export const signInAt = (issuer: string): Record<string, string> => ({
  DEV_ISSUER: 'false',
  OIDC_ISSUER: issuer,
  OIDC_JWKS_URL: `${issuer}/jwks`,
});

/** Signs a person in on the pages of the provider. */
export async function signInOn(page: Page, login: string): Promise<void> {
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('anything');
  // The button of the first page would do for the second one, and be pressed twice before that is there.
  for (const prompt of ['login', 'consent'])
    await page.locator(`form:has(input[name=prompt][value=${prompt}]) button[type=submit]`).click();
}
