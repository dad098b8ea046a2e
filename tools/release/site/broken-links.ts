import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Links of a built site that lead nowhere, as `page: link`: to a file that is not there, or to an anchor that the page
 * does not have. Links to other hosts are left alone.
 * @param folder of the site
 * @param base path of the site on its host, as `/plinth`
 */
export function brokenLinks(folder: string, base: string): string[] {
  const prefix = base.replace(/\/$/, '');
  const anchors = new Map<string, Set<string>>();
  const anchorsOf = (file: string): Set<string> => {
    const known = anchors.get(file);
    if (known) return known;
    const found = new Set([...readFileSync(file, 'utf8').matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!));
    anchors.set(file, found);
    return found;
  };
  const isBroken = (page: string, link: string): boolean => {
    const { pathname, hash, origin } = new URL(link.replaceAll('&amp;', '&'), `http://site${prefix}/${page}`);
    if (origin !== 'http://site') return false;
    if (!pathname.startsWith(`${prefix}/`)) return true;
    const path = join(folder, decodeURIComponent(pathname.slice(prefix.length)));
    const file = existsSync(path) && statSync(path).isDirectory() ? join(path, 'index.html') : path;
    if (!existsSync(file)) return true;
    const isTop = hash === '' || hash === '#_top' || !file.endsWith('.html');
    return !isTop && !anchorsOf(file).has(decodeURIComponent(hash.slice(1)));
  };
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.html'))
    .flatMap((page) => {
      const text = readFileSync(join(folder, page), 'utf8');
      const links = new Set([...text.matchAll(/\s(?:href|src)="([^"]+)"/g)].map(([, link]) => link!));
      return [...links].filter((link) => isBroken(page, link)).map((link) => `${page}: ${link}`);
    });
}
