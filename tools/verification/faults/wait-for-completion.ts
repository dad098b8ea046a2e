import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../development/demo/client';

const POLL_MILLISECONDS = 50;

/** Waits until a job or an undo is completed, and returns it. */
export async function waitForCompletion(client: Client, path: string) {
  for (;;) {
    const { body } = await client.call('GET', path);
    if (body.completedAt !== null) return body;
    await pause(POLL_MILLISECONDS);
  }
}
