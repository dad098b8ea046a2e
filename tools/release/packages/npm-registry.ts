import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What `npm publish` sends, as far as a registry needs it to give the package out again. */
interface Published {
  name: string;
  versions: Record<string, { dist: { tarball: string } }>;
  _attachments: Record<string, { data: string }>;
}

export interface NpmRegistry {
  url: string;
  /** The names and versions that were published, in their order. */
  published: string[];
  close(): void;
}

/** A registry on this machine, which takes packages from `npm publish` and gives them to `npm install`. */
export async function startNpmRegistry(): Promise<NpmRegistry> {
  const packages = new Map<string, Published>();
  const published: string[] = [];
  const server: Server = createServer(async (request, response) => {
    const [name = '', tarball] = decodeURIComponent(request.url!).slice(1).split('/-/');
    if (request.method === 'PUT') {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const document = JSON.parse(Buffer.concat(chunks).toString()) as Published;
      packages.set(name, document);
      published.push(...Object.keys(document.versions).map((version) => `${name}@${version}`));
      return response.writeHead(201, { 'content-type': 'application/json' }).end('{}');
    }
    const found = packages.get(name);
    if (found === undefined) return response.writeHead(404).end('{"error":"not found"}');
    if (tarball !== undefined)
      return response.end(Buffer.from(Object.values(found._attachments)[0]!.data, 'base64'));
    const { _attachments, ...document } = found;
    for (const version of Object.values(document.versions))
      version.dist.tarball = `${urlOf(server)}/${name}/-/package.tgz`;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: urlOf(server), published, close: () => server.close() };
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
