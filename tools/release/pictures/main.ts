import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { signIn } from '../../development/demo/client.ts';
import { demoTenant } from '../../development/launcher/environment.mjs';
import { root } from '../../development/launcher/paths.mjs';
import { people, prepare, type Prepared } from './prepare.ts';
import { scenes, type Scene } from './scenes.ts';

const url = process.env['PLINTH_URL'] ?? 'http://localhost:8080';
const folder = process.env['PICTURES_FOLDER'] ?? join(root, 'docs/console');
const type = process.env['PICTURES_TYPE'] === 'png' ? 'png' : 'jpeg';

/** `npm run docs:pictures [-- scene…]`: the pictures of the console, of the demo tenant on the platform at `PLINTH_URL`. */
async function main(wanted: readonly string[]): Promise<void> {
  const tenantId = demoTenant.id;
  const clientOf = (person: keyof typeof people) => signIn(url, { ...people[person], tenantId });
  const [ada, grace, emile] = await Promise.all([clientOf('ada'), clientOf('grace'), clientOf('emile')]);
  const prepared = await prepare({ ada, grace, emile });
  mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
  try {
    for (const scene of scenes)
      if (wanted.length === 0 || wanted.includes(scene.name)) await take(browser, scene, prepared);
  } finally {
    await browser.close();
  }
}

async function take(browser: Browser, scene: Scene, prepared: Prepared): Promise<void> {
  const { name, person = 'ada', isOperator = false, isDark = false, locale = 'en-US' } = scene;
  const context = await browser.newContext({
    baseURL: url,
    locale,
    colorScheme: isDark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    viewport: { width: scene.width ?? 1_280, height: scene.height ?? 800 },
  });
  const page = await context.newPage();
  await page.goto('/console');
  // Pages after this one have it (ADR 0046).
  while (!(await page.evaluate(isFontStored))) await page.waitForTimeout(100);
  const tenant = page.getByRole('region', { name: isOperator ? 'Plinth' : demoTenant.name, exact: true });
  await tenant.getByRole('button', { name: people[person].name }).click();
  await page.waitForURL(({ pathname }) => !pathname.endsWith('/sign-in'));
  await scene.open(page, prepared);
  // Pages in frames, and figures, arrive after the page that shows them.
  await page.waitForLoadState('networkidle', { timeout: 1_500 }).catch(() => undefined);
  const path = join(folder, `${name}.${type === 'png' ? 'png' : 'jpg'}`);
  await page.screenshot({ path, type, ...(type === 'jpeg' ? { quality: 85 } : {}) });
  console.log(path);
  await context.close();
}

const isFontStored = async (): Promise<boolean> =>
  (await (await caches.open('plinth-font')).keys()).length > 0;

function chromiumPath(): string {
  const program = join(root, 'tools/development/launcher/servers/find-or-install.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'chromium'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

await main(process.argv.slice(2));
