/// <reference lib="dom" />
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody, movedOf, personOf } from './browser';

/** Where most people begin. */
const FIRST_PAGES = /\b(imports|exports|approvals|notifications)-page\.tsx$/;
const FIRST_PAGE_BYTES_MAX = 150_000;
const PAGE_BYTES_MAX = 180_000;
/** The built console, and what it says about itself. */
const folder = join(__dirname, '../../../../dist/apps/console');
type Chunks = Record<string, { file: string; imports?: string[] }>;

/** Bytes of the scripts without which a page is not shown; what it loads after that is for what a person does there. */
function bytesBeforePaint(chunks: Chunks, page: string): number {
  const files = new Set<string>();
  const collect = (name: string): void => {
    const { file, imports = [] } = chunks[name]!;
    if (files.has(file)) return;
    files.add(file);
    imports.forEach(collect);
  };
  ['index.html', page].forEach(collect);
  const sizeOf = (path: string) => statSync(existsSync(`${path}.br`) ? `${path}.br` : path).size;
  return [...files].reduce((sum, file) => sum + sizeOf(join(folder, file)), 0);
}

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
    for (const path of ['imports/new', 'exports/new', 'settings', 'localization', 'entities/Contact/1']) {
      await page.goto(`/console/${path}`);
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
    }

    // By the keyboard the focus comes back from the menu.
    const person = page.getByRole('button', { name: 'Émile Zola' });
    await person.press('Enter');
    await page.getByRole('menuitemradio').first().waitFor();
    await page.keyboard.press('Escape');
    // Another window of the same person does not stay signed in, and keeps what is written in it.
    const other = await page.context().newPage();
    await other.goto('/console/entities/Contact/1');
    await personOf(other, 'Émile Zola').click();
    const comment = other.getByRole('textbox', { name: 'Comment', exact: true });
    await comment.fill('Not sent yet');
    await page.bringToFront();
    await person.click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Who do you want to be?' }).waitFor();
    const again = other.getByRole('alertdialog');
    await again.waitFor();
    expect(await other.evaluate(() => sessionStorage.getItem('plinth-session'))).toBeNull();
    await again.getByRole('button', { name: 'Émile Zola' }).click();
    await again.waitFor({ state: 'detached' });
    expect(await comment.inputValue()).toBe('Not sent yet');
    await other.close();
    await page.goto('/console/imports');
    await page.waitForURL(/\/console\/sign-in/);
  });

  it('shows every page with few scripts, and loads editors, lists that drag and dialogs when they are wanted', () => {
    const chunks = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8')) as Chunks;
    const every = Object.keys(chunks).filter((name) => /-page\.tsx$|write-view\.tsx$/.test(name));
    expect(every.length).toBeGreaterThan(20);
    const sizes = every.map((page) => ({ page, bytes: bytesBeforePaint(chunks, page) }));
    expect(sizes.filter(({ bytes }) => bytes > PAGE_BYTES_MAX)).toEqual([]);
    const first = sizes.filter(({ page }) => FIRST_PAGES.test(page));
    expect(first).toHaveLength(4);
    expect(first.filter(({ bytes }) => bytes > FIRST_PAGE_BYTES_MAX)).toEqual([]);
  });

  it('asks for the scripts of a page before the application runs, and for each once', async () => {
    const { page } = await browser.signIn('Émile Zola');
    await page.goto('/console/localization');
    await page.getByRole('heading', { name: 'Localization', level: 1 }).waitFor();
    const read = () =>
      page.evaluate(() => ({
        named: Array.from(
          document.querySelectorAll('link[rel="modulepreload"][fetchpriority="low"]'),
          (link) => new URL(link.getAttribute('href')!, location.href).href,
        ),
        asked: performance
          .getEntriesByType('resource')
          .map(({ name }) => name)
          .filter((name) => name.endsWith('.js')),
      }));
    // The browser tells of a script once it has all of it.
    const { named, asked } = await eventually(async () => {
      const scripts = await read();
      return scripts.named.every((name) => scripts.asked.includes(name)) && scripts;
    });
    expect(named.some((name) => name.includes('localization-page'))).toBe(true);
    expect(new Set(asked).size).toBe(asked.length);
  });

  it('reads its texts once for a page, compressed, and already those of the tenant', async () => {
    const { page } = await browser.signIn('Émile Zola');
    await page.reload();
    await page.getByRole('heading', { name: 'Imports', level: 1 }).waitFor();
    await page.getByRole('navigation').waitFor();
    const texts = await page.evaluate(() =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
        .filter(({ name }) => new URL(name).pathname === '/localization')
        .map(({ name, encodedBodySize, decodedBodySize }) => ({
          tenant: new URL(name).searchParams.get('tenant'),
          isCompressed: encodedBodySize < decodedBodySize / 2,
        })),
    );
    expect(texts).toEqual([{ tenant: tenants.console.id, isCompressed: true }]);
  });

  it('asks once for a page who is signed in', async () => {
    const { page } = await browser.signIn('Émile Zola');
    // What the page before still asks does not count.
    await page.goto('about:blank');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto('/console/imports');
    await page.getByRole('heading', { name: 'Imports', level: 1 }).waitFor();
    await page.getByRole('navigation').waitFor();
    expect(asked.filter((path) => path === '/me')).toHaveLength(1);
  });

  it('asks once for what a page is for, before the application is there', async () => {
    const journey = browser.journey();
    const name = `early ${newId()}`;
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const body = { name, culture: 'en', content: '<p>Early</p>', mimeType: 'text/html' };
    expect((await journey.call('POST', '/api/v1/templates', { token, body })).status).toBe(201);

    const { page } = await browser.signIn('Émile Zola');
    const path = `/api/v1/templates/${encodeURIComponent(name)}`;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const question = page.waitForRequest((request) => new URL(request.url()).pathname === path);
    await page.route(/\/assets\/index-/, async (route) => {
      await question;
      await route.continue();
    });
    await page.goto(`/console/templates/${encodeURIComponent(name)}?culture=en`);
    await page.getByText('<p>Early</p>').waitFor();
    expect(asked.filter((one) => one === path)).toHaveLength(1);
  });

  it('moves nothing on a phone while a page arrives', async () => {
    const journey = browser.journey();
    const name = `still ${newId()}`;
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const body = { name, culture: 'en', content: '<p>Still</p>', mimeType: 'text/html' };
    expect((await journey.call('POST', '/api/v1/templates', { token, body })).status).toBe(201);

    const { page } = await browser.signIn('Ada Lovelace', { viewport: { width: 360, height: 740 } });
    const last = {
      approvals: page.getByRole('button', { name: 'Let somebody decide for you' }),
      'exports/new': page.getByRole('button', { name: 'Save these settings' }),
      [`templates/${encodeURIComponent(name)}?culture=en`]: page.getByRole('button', { name: 'State' }),
    };
    for (const [path, part] of Object.entries(last)) {
      await page.goto(`/console/${path}`);
      await part.waitFor();
      expect(await movedOf(page)).toEqual([]);
    }
  });

  const isStored = async () => (await (await caches.open('plinth-font')).keys()).length === 1;
  const isShown = () => document.documentElement.classList.contains('with-font');

  it('keeps the font of the system where its own comes when texts are shown, so that none moves', async () => {
    const { page } = await browser.signIn('Émile Zola');
    await eventually(() => page.evaluate(isStored));
    await page.addInitScript(() => {
      const open = caches.open.bind(caches);
      const isLate = new Promise((resolve) => addEventListener('late', resolve));
      caches.open = async (name) => {
        await isLate;
        return open(name);
      };
    });
    await page.reload();
    await page.getByRole('heading', { name: 'Imports', level: 1 }).waitFor();
    await page.evaluate(() => dispatchEvent(new Event('late')));
    await page.waitForFunction(() =>
      Array.from(document.fonts).some(({ family }) => family.includes('Inter Stored')),
    );
    expect(await page.evaluate(isShown)).toBe(false);
    expect(await movedOf(page)).toEqual([]);
  });

  it('has the font of the system first, and its own on the next page, which asks nobody for it', async () => {
    const { page } = await browser.signIn('Émile Zola');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await eventually(() => page.evaluate(isStored));
    expect(await page.evaluate(isShown)).toBe(false);
    asked.length = 0;
    // Where the application is faster than the cache, the page has that of the system once more.
    await eventually(async () => {
      await page.reload();
      await page.getByRole('heading', { name: 'Imports', level: 1 }).waitFor();
      return page.evaluate(isShown);
    });
    const statuses = await page.evaluate(() => {
      const all: string[] = [];
      document.fonts.forEach(({ status }) => all.push(status));
      return all;
    });
    expect(statuses).toContain('loaded');
    expect(asked.filter((url) => url.endsWith('.woff2'))).toEqual([]);

    // What is no font any more stays no longer than the page that finds it.
    const storedBytes = async () => {
      const [file] = await (await caches.open('plinth-font')).matchAll();
      return file ? (await file.arrayBuffer()).byteLength : 0;
    };
    const bytes = await page.evaluate(storedBytes);
    await page.evaluate(async () => {
      const fonts = await caches.open('plinth-font');
      const [request] = await fonts.keys();
      await fonts.put(request!, new Response('no font'));
    });
    await page.reload();
    await page.getByRole('heading', { name: 'Imports', level: 1 }).waitFor();
    expect(await page.evaluate(isShown)).toBe(false);
    await eventually(async () => (await page.evaluate(storedBytes)) === bytes);
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
