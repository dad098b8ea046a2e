import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../demo/client';

const POLL_MILLISECONDS = 50;

/** Waits for the end of what is worked on in the background, and answers what it says then. */
export async function ended(client: Client, path: string) {
  for (;;) {
    const { body } = await client.call('GET', path);
    if (body.completedAt !== null) return body;
    await pause(POLL_MILLISECONDS);
  }
}
