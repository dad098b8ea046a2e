import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { signIn } from '../../development/demo/client.ts';
import { demoTenant } from '../../development/launcher/environment.mjs';
import { root } from '../../development/launcher/paths.mjs';
import { people, prepare, type Prepared } from './prepare.ts';
import { looksAt, scenes, type Look, type Scene } from './scenes.ts';

const url = process.env['PLINTH_URL'] ?? 'http://localhost:8080';
const folder = process.env['PICTURES_FOLDER'] ?? join(root, 'docs/console');

const SHORTEST = 700;

/**
 * `npm run docs:pictures [-- page…]`: the console's pages in light, dark and narrow, of the demo tenant on the platform
 * at `PLINTH_URL`.
 */
async function main(wanted: readonly string[]): Promise<void> {
  const tenantId = demoTenant.id;
  const clientOf = (person: keyof typeof people) => signIn(url, { ...people[person], tenantId });
  const [ada, grace, emile] = await Promise.all([clientOf('ada'), clientOf('grace'), clientOf('emile')]);
  const prepared = await prepare({ ada, grace, emile });
  mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
  try {
    for (const scene of scenes)
      if (wanted.length === 0 || wanted.includes(scene.name)) await takeAll(browser, scene, prepared);
  } finally {
    await browser.close();
  }
}

async function takeAll(browser: Browser, scene: Scene, prepared: Prepared): Promise<void> {
  const { name, person = 'ada', isOperator = false, locale = 'en-US' } = scene;
  const context = await browser.newContext({ baseURL: url, locale, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto('/console');
  // Pages after this one have it (ADR 0046).
  while (!(await page.evaluate(isFontStored))) await page.waitForTimeout(100);
  const tenant = page.getByRole('region', { name: isOperator ? 'Plinth' : demoTenant.name, exact: true });
  await tenant.getByRole('button', { name: people[person].name }).click();
  await page.waitForURL(({ pathname }) => !pathname.endsWith('/sign-in'));
  for (const look of looksAt(scene)) {
    await page.emulateMedia({ colorScheme: look.colorScheme });
    await page.setViewportSize({ width: look.width, height: SHORTEST });
    await scene.open(page, prepared);
    await settle(page);
    await lengthen(page, scene, look);
    await page.mouse.move(0, 0);
    await page.evaluate(() => scrollTo(0, 0));
    const path = join(folder, `${name}${look.suffix}.jpg`);
    await page.screenshot({ path, type: 'jpeg', quality: 72 });
    console.log(path);
  }
  await context.close();
}

/** Makes the window as long as what is in it, which grows where more of it comes into sight. */
async function lengthen(page: Page, { name }: Scene, { width, longest }: Look): Promise<void> {
  for (let shown = SHORTEST; ;) {
    const content = await page.evaluate(sizeOfContent);
    if (content.width > width)
      throw new Error(`${name} is ${content.width} px wide in a window of ${width} px`);
    const wanted = Math.min(content.height, longest);
    if (wanted <= shown) return;
    shown = wanted;
    await page.setViewportSize({ width, height: shown });
    await settle(page);
  }
}

/** Waits for what arrives after the page that shows it. */
async function settle(page: Page): Promise<void> {
  // Pages in frames, and figures.
  await page.waitForLoadState('networkidle', { timeout: 1_500 }).catch(() => undefined);
  // Parts of a page that are loaded for themselves; what is out of sight may stay as it is.
  await page.waitForFunction(isLoaded, undefined, { timeout: 10_000 }).catch(() => undefined);
}

const sizeOfContent = () => {
  const { scrollWidth, scrollHeight } = document.documentElement;
  return { width: scrollWidth, height: scrollHeight };
};

const isFontStored = async (): Promise<boolean> =>
  (await (await caches.open('plinth-font')).keys()).length > 0;

const isLoaded = (): boolean => document.querySelector('.skeleton, [aria-busy="true"]') === null;

function chromiumPath(): string {
  const program = join(root, 'tools/development/launcher/servers/find-or-install.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'chromium'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

await main(process.argv.slice(2));
