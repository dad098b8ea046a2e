import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { allEndpoints } from '@plinth/contracts/all';

const root = join(__dirname, '../..');
const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((page) => page !== '' && existsSync(join(root, page)));

const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');
const withoutCode = (text: string): string => text.replace(/^```[^]*?^```/gm, '').replace(/`[^`\n]*`/g, '');

/** Headings as the anchors that they become on a page. */
const anchorsOf = (page: string): string[] =>
  [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );

describe.each(pages)('%s', (page) => {
  it('leads nowhere that is not there', () => {
    const links = [...withoutCode(textOf(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(
      ([, target = '']) => target,
    );
    const broken = links.filter((link) => {
      if (/^[a-z]+:/i.test(link)) return false;
      const [path = '', anchor] = decodeURIComponent(link).split('#');
      const target = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});

describe('every area', () => {
  const pageOf = (area: string) => (area === 'template' ? 'templates' : area);

  it.each(Object.keys(allEndpoints))(
    'has pages for users and for what the interface leaves open: %s',
    (area) => {
      expect(existsSync(join(root, 'docs/areas', `${pageOf(area)}.md`))).toBe(true);
      expect(existsSync(join(root, 'docs/silences', `${pageOf(area)}.md`))).toBe(true);
    },
  );
});
