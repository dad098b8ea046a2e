/**
 * The database knows less of a job than its workflow was told is done: it was restored to a moment before, or a server that
 * failed took its last transactions with it. The database is right, so that the workflow begins anew and goes on from there.
 */
export class LostProgress extends Error {}

/** @param known how much the workflow knows to be stored */
export function requireStored(what: string, stored: number, known = 0): void {
  if (stored < known) throw new LostProgress(`${what}: ${stored} are stored, of ${known} that were.`);
}
