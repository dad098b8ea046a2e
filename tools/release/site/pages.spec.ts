import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brokenLinks } from './broken-links';
import { siteOf, type Page } from './pages';

const page = (path: string, ...lines: string[]): Page => ({
  path,
  text: `# ${path}\n\n${lines.join('\n')}\n`,
});

/** The page of settings, with the given lines, beside those that every site has. */
const settingsWith = (lines: string[], { base = '/', files }: { base?: string; files?: string } = {}) => {
  const named = [
    ...[
      'architecture',
      'glossary',
      'command-line',
      'clients-in-other-languages',
      'events',
      'status-codes',
      'limits',
      'limits-of-each-call',
    ],
    ...['configuration', 'runbook', 'security', 'adding-a-service', 'adding-an-endpoint', 'silences'],
  ].map((name) => page(`docs/${name}.md`));
  const others = ['README', 'CHANGELOG', 'CONTRIBUTING', 'SECURITY', 'k8s/README', 'libs/sdk/README'];
  const sources = [
    ...named,
    ...others.map((name) => page(`${name}.md`)),
    page('docs/areas/settings.md', ...lines),
  ];
  const site = siteOf(sources, base, files);
  return { ...site, text: site.pages['areas/settings.md']!.split('---\n\n')[1]!.trim() };
};

describe('a page of the site', () => {
  it('has the title of its page, once', () => {
    const { pages } = settingsWith(['Text.']);
    expect(pages['areas/settings.md']).toBe('---\ntitle: "docs/areas/settings.md"\n---\n\nText.\n');
  });

  it.each([
    ['[limits](../limits.md#rows)', '[limits](/limits/#rows)'],
    ['[start](../../README.md)', '[start](/)'],
    ['[docs/adr](../adr/)', '[Decisions](/adr/)'],
    ['[`sdk`](../../libs/sdk)', '[`sdk`](/parts/sdk/)'],
    ['[all decisions](../adr/)', '[all decisions](/adr/)'],
    ['[here](#rows)', '[here](#rows)'],
    ['[elsewhere](https://example.com/a.md)', '[elsewhere](https://example.com/a.md)'],
    ['`[code](../limits.md)`', '`[code](../limits.md)`'],
  ])('leads with %s to a page of the site', (written, wanted) => {
    expect(settingsWith([written]).text).toBe(wanted);
  });

  it('leads to pages below the path that the site is served at', () => {
    const { text } = settingsWith(['[limits](../limits.md)'], { base: '/plinth/' });
    expect(text).toBe('[limits](/plinth/limits/)');
  });

  it('leads to sources where they can be read, and names them where they cannot', () => {
    const written = ['[app.ts](../../apps/settings/src/app.ts)'];
    expect(settingsWith(written, { files: 'https://host/blob/main' }).text).toBe(
      '[app.ts](https://host/blob/main/apps/settings/src/app.ts)',
    );
    expect(settingsWith(written).text).toBe(
      '<span class="source" title="apps/settings/src/app.ts">app.ts</span>',
    );
  });

  it('brings its images along, and leaves diagrams to be drawn', () => {
    const { text, images } = settingsWith(['![A list](../console/list.jpg)', '```mermaid', 'a --> b', '```']);
    expect(text).toBe(
      '![A list](../../images/docs/console/list.jpg)\n<pre class="mermaid">a --&gt; b\n</pre>',
    );
    expect(images).toEqual({ 'images/docs/console/list.jpg': 'docs/console/list.jpg' });
  });
});

it('every page is in the sidebar; one that is in no group is an error', () => {
  const { pages, sidebar } = settingsWith([]);
  const links = sidebar.flatMap(({ items }) => items.map((item) => ('link' in item ? item.link : '')));
  const files = Object.keys(pages).map((file) =>
    `/${file.replace(/(^|\/)index\.md$|\.md$/, '/')}`.replace('//', '/'),
  );
  expect(links.toSorted()).toEqual(files.toSorted());
  const name = 'strange';
  expect(() => siteOf([page(`docs/${name}.md`)], '/', undefined)).toThrow(
    /In no group of the sidebar.*strange/,
  );
});

it('links of a built site that lead nowhere are found', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-site-'));
  mkdirSync(join(folder, 'limits'));
  writeFileSync(join(folder, 'limits/index.html'), '<h2 id="rows">Rows</h2><a href="../#no-more">');
  writeFileSync(
    join(folder, 'index.html'),
    '<h1 id="_top"><a href="/docs/limits/#rows"><a href="limits/"><a href="#_top"><a href="https://example.com/">' +
      '<a href="/docs/limits/#columns"><a href="/limits/"><img src="/docs/none.png">',
  );

  expect(brokenLinks(folder, '/docs').sort()).toEqual([
    'index.html: /docs/limits/#columns',
    'index.html: /docs/none.png',
    'index.html: /limits/',
    'limits/index.html: ../#no-more',
  ]);
  rmSync(folder, { recursive: true });
});
