import pg from 'pg';

/**
 * Asking about an event again takes some time from the start of the services on, and an outbox removes what is older than
 * seven days (libs/runtime/src/messaging/outbox.ts): what may be removed before is published again at once.
 */
const ASKED_DAYS_MAX = 6;

/**
 * Has the services ask, after their next start, who misses which of the events in a database that was restored: others were
 * restored to an earlier moment, and may not have what they confirmed since.
 * @param url of an administrator, or of the owner
 */
export async function recheckEvents(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SELECT set_config('plinth.scope', 'platform', true)`);
    await client.query(`UPDATE event_subscription SET rechecked_to = '-infinity'`);
    await client.query(
      `UPDATE outbox SET published_at = NULL, check_at = NULL
       WHERE published_at IS NOT NULL AND occurred_at < now() - make_interval(days => $1)`,
      [ASKED_DAYS_MAX],
    );
    await client.query('COMMIT');
  } finally {
    // Without a COMMIT nothing is changed.
    await client.end();
  }
}
