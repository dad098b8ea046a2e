import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
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
  // Whoever stops it learns of a failure; until then nobody waits.
  writing.catch(() => undefined);
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

/**
 * A user's newest 5,000 notifications are kept. Entries that were written side by side are notified of in another order than
 * that of their responses.
 */
const KEPT_FOR_CERTAIN = 4_900;

/** Fails where a person was not notified of an entry although nobody has removed that, or was notified twice. */
export async function requireNotifiedOnce(client: Client, written: readonly string[]): Promise<true> {
  const notified = await notifiedOf(client);
  const [known, wanted] = [new Set(notified), new Set(written)];
  const missing = written.slice(-KEPT_FOR_CERTAIN).filter((id) => !known.has(id));
  const unknown = [...known].filter((id) => !wanted.has(id));
  const doubled = notified.length - known.size;
  if (missing.length === 0 && unknown.length === 0 && doubled === 0) return true;
  throw new Error(`Of ${written.length} entries: ${JSON.stringify({ missing, unknown, doubled })}`);
}

/** Follows a person's stream of notifications, opened again whenever it ends. */
export function followNotifications(url: string, token: string) {
  const notified = new Set<string>();
  const stop = new AbortController();
  const follow = async (): Promise<void> => {
    const response = await fetch(`${url}/api/v1/notifications/stream`, {
      headers: { authorization: `Bearer ${token}` },
      signal: stop.signal,
    });
    const decoder = new TextDecoder();
    let text = '';
    for await (const piece of response.body!) {
      text += decoder.decode(piece, { stream: true });
      for (const [, id] of text.matchAll(/"entryId":"([^"]+)"/g)) notified.add(id!);
      text = text.slice(text.lastIndexOf('\n') + 1);
    }
  };
  const following = (async () => {
    while (!stop.signal.aborted) {
      await follow().catch(() => undefined);
      await pause(200);
    }
  })();
  return {
    /** Of entries, since the stream was opened first. */
    notified: notified as ReadonlySet<string>,
    close: async (): Promise<void> => {
      stop.abort();
      await following;
    },
  };
}
