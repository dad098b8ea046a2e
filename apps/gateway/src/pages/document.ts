import { hashedEntityTag } from '@plinth/kernel/entity-tag';
import type { Express } from 'express';
import { onlyMethods } from './pages';

/** A text that is the same for everybody. */
interface Document {
  type: string;
  /** Called with the first request: a large document takes longer than a gateway should need to start. */
  make: () => string;
  /** Where browsers are to store it instead of showing it. */
  fileName?: string;
}

/** Serves a document at a path, with an entity tag. */
export function mountDocument(app: Express, path: string, { type, make, fileName }: Document): void {
  let made: { bytes: Buffer; etag: string } | undefined;
  app.get(path, (_request, response) => {
    if (made === undefined) {
      const bytes = Buffer.from(make());
      made = { bytes, etag: hashedEntityTag([bytes]) };
    }
    response
      .set('content-type', `${type}; charset=utf-8`)
      .set('cache-control', 'public, max-age=3600')
      .set('etag', made.etag);
    if (fileName !== undefined) response.set('content-disposition', `attachment; filename="${fileName}"`);
    // The same bytes for all: of a text, each response would be a copy, for as long as its client does not read it.
    response.send(made.bytes);
  });
  onlyMethods(app, path, 'GET', 'HEAD');
}
