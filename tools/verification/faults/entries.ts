import { randomUUID } from 'node:crypto';
import type { Client } from '../../development/demo/client';

/** The timeline that the entries of a campaign are written to. */
export const ENTITY = '/timeline/Order/ORD-1';
const WRITERS = 4;

/** Writes entries until it is stopped, each until it is acknowledged; its end returns their ids. */
export function writeEntries(client: Client): () => Promise<string[]> {
  let isStopped = false;
  const written: string[] = [];
  const write = async (): Promise<void> => {
    while (!isStopped) {
      const call = { body: { entryType: 0, body: 'entry' }, headers: { 'idempotency-key': randomUUID() } };
      written.push((await client.call('POST', `${ENTITY}/entries`, call)).body.id);
    }
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, write));
  return async () => {
    isStopped = true;
    await writing;
    return written;
  };
}

/** The entries that a person was notified of, one for each notification. */
export async function notifiedOf(client: Client): Promise<string[]> {
  const notified: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const path = `/notifications?pageSize=100&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await client.call('GET', path);
    notified.push(...body.items.map(({ entryId }: { entryId: string }) => entryId));
    cursor = body.nextCursor;
  }
  return notified;
}
