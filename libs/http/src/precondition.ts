import type { IncomingMessage } from 'node:http';
import type { Precondition } from '@plinth/kernel/entity-tag';

type Received = Pick<IncomingMessage, 'method' | 'headers'>;

/** What a write depends on. `If-None-Match` of a read makes no precondition: it asks for less. */
export function readPrecondition(req: Received): Precondition {
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  const [ifMatch, ifNoneMatch] = [readTags(req, 'if-match'), readNoneMatch(req)];
  if (isRead || (ifMatch === undefined && ifNoneMatch === undefined)) return undefined;
  return { ...(ifMatch && { ifMatch }), ...(ifNoneMatch && { ifNoneMatch }) };
}

/** Whether `If-None-Match` names a tag: its reader has what a response would send. */
export const noneMatches = (req: Received, tag: string): boolean =>
  readNoneMatch(req)?.some((named) => named === '*' || named === tag) ?? false;

/** Compares weakly, other than `If-Match` (RFC 9110, 13.1.2): `W/"1"`, as a proxy that compresses makes of it, is `"1"`. */
const readNoneMatch = (req: Received): string[] | undefined =>
  readTags(req, 'if-none-match')?.map((tag) => tag.replace(/^W\//, ''));

const readTags = ({ headers }: Received, name: 'if-match' | 'if-none-match'): string[] | undefined =>
  headers[name]?.split(',').map((tag) => tag.trim());
