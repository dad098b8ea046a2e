import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { notFound } from '@plinth/kernel/problem';
import type { Express, Request, Response } from 'express';
import type { ScriptsOfPages } from './page-scripts';

/** A built file, with its Brotli form where the build made one. */
interface WebFile {
  type: string;
  bytes: Buffer;
  brotli: Buffer | undefined;
}

/** The built files of a web application. */
export interface WebFiles {
  /** The page of every address of the application. */
  page: string;
  /** The scripts of single pages, as the build wrote them. */
  scripts: ScriptsOfPages;
  /** The others by their path; their names change with their content. */
  assets: ReadonlyMap<string, WebFile>;
}

/**
 * The folder with a built application; undefined where it is not built. An image holds it beside the gateway, a build
 * beside the folder of the gateway.
 */
export function findWebFiles(application: 'console' | 'reference', configured?: string): string | undefined {
  const places =
    configured === undefined ? ['.', '..'].map((place) => join(__dirname, place, application)) : [configured];
  return places.find((place) => existsSync(join(place, 'index.html')));
}

const typeByExtension: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Reads all files at once: they are small, and no request then reaches the file system. */
export function readWebFiles(folder: string): WebFiles {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extname(entry.name) in typeByExtension)
    .map((entry) => join(entry.parentPath, entry.name));
  const assets = paths.map((path): [string, WebFile] => [
    relative(folder, path),
    {
      type: typeByExtension[extname(path)]!,
      bytes: readFileSync(path),
      brotli: existsSync(`${path}.br`) ? readFileSync(`${path}.br`) : undefined,
    },
  ]);
  const scripts = join(folder, 'pages.json');
  return {
    page: readFileSync(join(folder, 'index.html'), 'utf8'),
    scripts: existsSync(scripts) ? (JSON.parse(readFileSync(scripts, 'utf8')) as ScriptsOfPages) : {},
    assets: new Map(assets),
  };
}

/** The build writes it where the page names its nonce; each response has another one. */
const NONCE = /__CSP_NONCE__/g;

/** Sends a page with a nonce of its own, which its policy names too. */
export function sendWebPage(
  response: Response,
  page: string,
  contentSecurityPolicy: (nonce: string) => string,
): void {
  const nonce = randomBytes(16).toString('base64url');
  response
    .set('content-type', 'text/html; charset=utf-8')
    .set('cache-control', 'no-store')
    .set('content-security-policy', contentSecurityPolicy(nonce))
    .set('referrer-policy', 'no-referrer')
    .set('permissions-policy', 'camera=(), geolocation=(), microphone=()')
    .send(page.replace(NONCE, nonce));
}

/** Serves the assets of an application below its path. */
export function mountAssets(app: Express, path: string, { assets }: WebFiles): void {
  app.get(`${path}/assets/*path`, (request, response) => {
    const asset = assets.get(request.path.slice(path.length + 1));
    if (!asset) throw notFound(`There is no resource at ${request.path}.`);
    sendAsset(request, response, asset);
  });
}

function sendAsset(request: Request, response: Response, { type, bytes, brotli }: WebFile): void {
  const mayCompress = brotli !== undefined && request.acceptsEncodings('br') === 'br';
  response
    .set('content-type', type)
    .set('cache-control', 'public, max-age=86400, immutable')
    .vary('Accept-Encoding');
  if (mayCompress) response.set('content-encoding', 'br');
  response.send(mayCompress ? brotli : bytes);
}
