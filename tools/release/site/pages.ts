import { dirname, join, relative } from 'node:path/posix';

/** A page of Markdown as it is in the repository. */
export interface Page {
  /** From the root, as `docs/areas/settings.md`. */
  path: string;
  text: string;
}

interface Group {
  label: string;
  items: (Group | { label: string; link: string })[];
  collapsed?: boolean;
}

/** What the site is made of. */
export interface Site {
  /** Markdown with front matter, by the path of its file. */
  pages: Record<string, string>;
  /** Images by their paths in the site; the values are their paths in the repository. */
  images: Record<string, string>;
  sidebar: Group[];
}

/** Pages that are not below `docs`. */
const elsewhere: [RegExp, string][] = [
  [/^README\.md$/, ''],
  [/^(CHANGELOG|CONTRIBUTING)\.md$/, '$1'],
  [/^SECURITY\.md$/, 'security-policy'],
  [/^k8s\/README\.md$/, 'kubernetes'],
  [/^(?:apps|libs|tools\/development)\/([\w-]+)\/README\.md$/, 'parts/$1'],
  [/^docs\/examples\/([\w-]+)\/README\.md$/, 'examples/$1'],
  [/^docs\/(.+)\.md$/, '$1'],
];

/** Folders of pages without a page of their own get one that lists them. */
const folders: Record<string, string> = {
  adr: 'Decisions',
  areas: 'Areas',
  measurements: 'Measurements',
  operations: 'Operations',
};

/** What stands where; an asterisk is every page of a folder that is not named elsewhere. */
const groups: [string, string[]][] = [
  ['Start', ['', 'architecture', 'glossary', 'changelog']],
  ['Areas', ['areas', 'areas/*']],
  [
    'Use it',
    [
      'command-line',
      'parts/sdk',
      'clients-in-other-languages',
      'events',
      'status-codes',
      'limits',
      'limits-of-each-call',
      'examples/*',
    ],
  ],
  [
    'Operate it',
    [
      'kubernetes',
      'configuration',
      'runbook',
      'security',
      'security-policy',
      'operations',
      'operations/*',
      'measurements',
      'measurements/*',
    ],
  ],
  ['Develop it', ['contributing', 'adding-a-service', 'adding-an-endpoint', 'parts/*']],
  ['Where the interface is silent', ['silences', 'silences/*']],
  ['Decisions', ['adr', 'adr/*']],
];

/** Where a page is on the site, as `areas/settings`, or undefined when it is no part of it. */
export function slugOf(path: string): string | undefined {
  const found = elsewhere.find(([pattern]) => pattern.test(path));
  return found && path.replace(found[0], found[1]).toLowerCase();
}

/**
 * Makes the pages of the site. A link between pages leads to the page on the site, one to a file of the sources to where
 * they can be read, and is text where that is nowhere.
 * @param sources pages in the repository
 * @param base path of the site on its host, as `/plinth`
 * @param files address of the files of the repository, as `https://host/plinth/blob/main`
 * @throws when a page is in no group of the sidebar
 */
export function siteOf(sources: readonly Page[], base: string, files: string | undefined): Site {
  const bySlug = new Map<string, Page>();
  for (const page of sources) {
    const slug = slugOf(page.path);
    if (slug !== undefined) bySlug.set(slug, page);
  }
  for (const [folder, title] of Object.entries(folders)) bySlug.set(folder, listOf(folder, title, bySlug));
  const site: Site = { pages: {}, images: {}, sidebar: sidebarOf(bySlug) };
  const prefix = base.replace(/\/$/, '');
  for (const [slug, page] of bySlug) {
    const file = `${slug || 'index'}.md`;
    const links: Links = {
      page: (path, anchor) => {
        const slugs = [path, `${path}/README.md`, `${path}.md`].map(slugOf);
        const known = slugs.find((one) => one !== undefined && bySlug.has(one));
        if (known === undefined) return undefined;
        return {
          address: `${prefix}/${known === '' ? '' : `${known}/`}${anchor}`,
          title: titleOf(bySlug.get(known)!),
        };
      },
      image: (path) => {
        site.images[`images/${path}`] = path;
        return relative(dirname(`pages/${file}`), `images/${path}`);
      },
      source: (path) => (files === undefined ? undefined : `${files}/${path}`),
    };
    const body = withLinks(page, links).replace(/^# .+\n+/, '');
    site.pages[file] = `---\ntitle: ${JSON.stringify(titleOf(page))}\n---\n\n${body}`;
  }
  return site;
}

const titleOf = ({ path, text }: Page): string => /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? path;

function listOf(folder: string, title: string, bySlug: ReadonlyMap<string, Page>): Page {
  const items = [...bySlug]
    .filter(([slug]) => slug.startsWith(`${folder}/`))
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([, page]) => `- [${titleOf(page)}](${relative(`docs`, page.path)})`);
  return { path: `docs/${folder}.md`, text: `# ${title}\n\n${items.join('\n')}\n` };
}

function sidebarOf(bySlug: ReadonlyMap<string, Page>): Group[] {
  const slugs = [...bySlug.keys()].sort();
  const named = new Set(groups.flatMap(([, places]) => places));
  const placed = (place: string): string[] =>
    place.endsWith('/*')
      ? slugs.filter((slug) => slug.startsWith(place.slice(0, -1)) && !named.has(slug))
      : [place];
  const inSidebar = groups.flatMap(([, places]) => places.flatMap(placed));
  const left = slugs.filter((slug) => !inSidebar.includes(slug));
  if (left.length > 0) throw new Error(`In no group of the sidebar (pages.ts): ${left.join(', ')}`);
  return groups.map(([label, places], index) => ({
    label,
    collapsed: index >= 4,
    items: places.flatMap(placed).map((slug) => ({
      label: titleOf(bySlug.get(slug)!),
      link: slug === '' ? '/' : `/${slug}/`,
    })),
  }));
}

interface Links {
  page(path: string, anchor: string): { address: string; title: string } | undefined;
  image(path: string): string;
  source(path: string): string | undefined;
}

/** The text of a page with its links as they are on the site; code stays as it is. */
function withLinks({ path, text }: Page, links: Links): string {
  const codes: string[] = [];
  const hidden = text
    .replace(
      /^```mermaid\n([^]*?)^```$/gm,
      (_, drawing: string) => `<pre class="mermaid">${escaped(drawing)}</pre>`,
    )
    .replace(/^```[^]*?^```$|`[^`\n]+`/gm, (code) => `\u0000${codes.push(code) - 1}\u0000`);
  const linked = hidden.replace(
    /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g,
    (whole, mark: string, label: string, target: string) => {
      if (/^[a-z]+:|^#/i.test(target)) return whole;
      const [file = '', anchor] = target.split('#');
      const meant = join(dirname(path), file).replace(/\/$/, '');
      if (mark === '!') return `![${label}](${links.image(meant)})`;
      const page = links.page(meant, anchor === undefined ? '' : `#${anchor}`);
      // Files have no names on the site.
      if (page) return `[${isFileName(label) ? page.title : label}](${page.address})`;
      const address = links.source(meant);
      return address === undefined
        ? `<span class="source" title="${meant}">${label}</span>`
        : `[${label}](${address})`;
    },
  );
  return linked.replace(/\u0000(\d+)\u0000/g, (_, index: string) => codes[Number(index)]!);
}

const isFileName = (label: string): boolean => /^[\w./-]+(\.md|\/[\w-]*)$/.test(label);

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
