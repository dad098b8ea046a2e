import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { allEndpoints } from '@plinth/contracts/all';

const root = join(__dirname, '../../..');
const filesLike = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)));

const pages = filesLike('*.md');

const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');
const withoutCode = (text: string): string => text.replace(/^```[^]*?^```/gm, '').replace(/`[^`\n]*`/g, '');

/** Headings as the anchors that they become on a page, and anchors of rows. */
const anchorsOf = (page: string): string[] => [
  ...[...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  ),
  ...[...textOf(page).matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id),
];

const isThere = (page: string, anchor: string | undefined): boolean =>
  existsSync(join(root, page)) && (anchor === undefined || anchorsOf(page).includes(anchor));

describe.each(pages)('%s', (page) => {
  it('has no broken links', () => {
    const links = [...withoutCode(textOf(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(
      ([, target = '']) => target,
    );
    const broken = links.filter((link) => {
      if (/^[a-z]+:/i.test(link)) return false;
      const [path = '', anchor] = decodeURIComponent(link).split('#');
      const target = path === '' ? page : join(dirname(page), path);
      return !isThere(target, target.endsWith('.md') ? anchor : undefined);
    });
    expect(broken).toEqual([]);
  });

  it('calls files that it links to by their names', () => {
    const links = withoutCode(textOf(page)).matchAll(
      /\[([\w.-]+\.(?:tsx?|mjs|json|md|ya?ml|sql|proto))\]\(([^)\s#]+)/g,
    );
    const misnamed = [...links].filter(([, label, target = '']) => basename(target) !== label);
    expect(misnamed.map(([link]) => link)).toEqual([]);
  });
});

describe('the sources', () => {
  const sources = filesLike('*.ts', '*.mjs', '*.cjs', '*.sql', '*.proto', '*.yaml', '*.yml').filter(
    // They speak of files that they look for, or make.
    (file) => !/docs\/links\.spec\.ts$|\/generators\.spec\.ts$/.test(file),
  );
  const citationsLike = (pattern: RegExp) =>
    sources.flatMap((file) =>
      [...textOf(file).matchAll(pattern)].map((match) => ({ file, match: match as unknown as string[] })),
    );

  it('cite only pages and rows that are there', () => {
    const broken = citationsLike(/\bdocs\/[\w/-]+\.md(?:#([\w-]+))?/g).filter(
      ({ match: [citation = '', anchor] }) => !isThere(citation.split('#')[0]!, anchor),
    );
    expect(broken).toEqual([]);
  });

  it('cite only decisions that are there', () => {
    const decisions = new Set(pages.map((page) => /^docs\/adr\/(\d{4})-/.exec(page)?.[1]));
    const broken = citationsLike(/\bADR (\d{4})\b/g).filter(
      ({ match: [, number] }) => !decisions.has(number),
    );
    expect(broken).toEqual([]);
  });

  it('cite rows of decisions by their anchor, and no document that is elsewhere', () => {
    expect(citationsLike(/\b[Ss]ilences?, rows? \d|\bInterface, "|\bthreats?, [A-Z]\d/g)).toEqual([]);
  });
});

describe.each(pages.filter((page) => page.startsWith('docs/silences/')))('%s', (page) => {
  const rows = textOf(page)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

  it('gives each row an anchor of its own', () => {
    const anchors = rows.map(([first = '']) => /^<a id="([a-z0-9-]+)"><\/a>/.exec(first)?.[1]);
    expect(rows.filter((_, index) => anchors[index] === undefined)).toEqual([]);
    expect(new Set(anchors).size).toBe(anchors.length);
  });

  it('names for each row the code that does it and a test that proves it', () => {
    const unproved = rows.filter(
      ([, , code = '', proof = '']) => !/\]\(/.test(code) || !/\.spec\.ts\)/.test(proof),
    );
    expect(unproved).toEqual([]);
  });
});

describe('the documentation of a service', () => {
  const pageOf = (service: string) => (service === 'template' ? 'templates' : service);

  it.each(Object.keys(allEndpoints))('has a page for users and a page of silences: %s', (service) => {
    expect(existsSync(join(root, 'docs/areas', `${pageOf(service)}.md`))).toBe(true);
    expect(existsSync(join(root, 'docs/silences', `${pageOf(service)}.md`))).toBe(true);
  });
});
