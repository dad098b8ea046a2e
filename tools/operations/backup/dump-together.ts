import pg from 'pg';

/** A service's database, with a role that may do everything in it. */
export interface Database {
  service: string;
  url: string;
}

/**
 * Who learns from other services what they did: timelines of all, workflow of those that own entities, data exchange of those
 * that own rows. Seen before them, none of these has what they lack; what it lacks itself it gets from their events, or asks
 * for again.
 */
const LEARNING = ['timeline', 'workflow', 'data-exchange'];

/**
 * Dumps databases as they are at nearly one instant, however long each dump takes: each as it is now, and those of services
 * that learn from others first.
 * @param dump is given the name of the snapshot to be dumped, which lasts until all dumps are made
 */
export async function dumpTogether(
  databases: readonly Database[],
  dump: (database: Database, snapshot: string) => Promise<void> | void,
): Promise<void> {
  const ordered = databases.toSorted((one, other) => placeOf(one) - placeOf(other));
  const clients = ordered.map(({ url }) => new pg.Client({ connectionString: url, keepAlive: true }));
  // Without its connection a snapshot is gone, which `pg_dump` says.
  for (const client of clients) client.on('error', () => undefined);
  try {
    // Before the first snapshot, so that only moments are between that and the last.
    for (const client of clients) await begin(client);
    const snapshots: string[] = [];
    for (const client of clients) snapshots.push(await takeSnapshot(client));
    for (const [index, database] of ordered.entries()) await dump(database, snapshots[index]!);
  } finally {
    await Promise.allSettled(clients.map((client) => client.end()));
  }
}

const placeOf = ({ service }: Database): number => {
  const place = LEARNING.indexOf(service);
  return place === -1 ? LEARNING.length : place;
};

/** Servers may end connections that do nothing for long, by settings that not all versions have. */
async function begin(client: pg.Client): Promise<void> {
  await client.connect();
  await client.query(`SELECT set_config(name, '0', false) FROM pg_settings
    WHERE name IN ('idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')`);
}

async function takeSnapshot(client: pg.Client): Promise<string> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const { rows } = await client.query<{ snapshot: string }>('SELECT pg_export_snapshot() AS snapshot');
  return rows[0]!.snapshot;
}
