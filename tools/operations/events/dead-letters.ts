import { createHmac, randomUUID } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import { connect, headers } from '@nats-io/transport-node';
import pg from 'pg';

export interface DeadLetter {
  tenant_id: string;
  consumer: string;
  event_id: string;
  name: string;
  envelope: object;
  error: string;
  deliveries: number;
  died_at: Date;
}

/** The dead letters of one service, oldest first. `url` is that of the service's own role. */
export const listDeadLetters = (url: string): Promise<DeadLetter[]> =>
  inPlatform(url, async (client) => {
    const { rows } = await client.query<DeadLetter>('SELECT * FROM dead_letter ORDER BY died_at, event_id');
    return rows;
  });

interface Replay {
  natsUrl: string;
  natsPrefix: string;
  /** Signs what is published, as the services do. */
  eventKey: string;
  /** Only the dead letter of this event. */
  event?: string | undefined;
}

/**
 * Publishes dead letters again, and returns how many. They reach every consumer; those that processed them before
 * ignore them. What fails again becomes a dead letter again.
 */
export const replayDeadLetters = (
  url: string,
  { natsUrl, natsPrefix, eventKey, event }: Replay,
): Promise<number> =>
  inPlatform(url, async (client) => {
    const { rows } = await client.query<DeadLetter>(
      'DELETE FROM dead_letter WHERE $1::text IS NULL OR event_id::text = $1 RETURNING *',
      [event ?? null],
    );
    if (rows.length === 0) return 0;
    const connection = await connect({ servers: natsUrl });
    try {
      for (const { name, event_id, envelope } of rows) {
        // JetStream would discard the first message id as a duplicate.
        const msgID = `${event_id}.${randomUUID()}`;
        const [subject, body] = [`${natsPrefix}.events.${name}`, JSON.stringify(envelope)];
        const signed = headers();
        signed.set(
          'Plinth-Signature',
          createHmac('sha256', eventKey).update(`${subject}\n${body}`).digest('base64url'),
        );
        await jetstream(connection).publish(subject, body, { msgID, headers: signed });
      }
    } finally {
      await connection.close();
    }
    return rows.length;
  });

async function inPlatform<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SELECT set_config('plinth.scope', 'platform', true)`);
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    await client.end();
  }
}
