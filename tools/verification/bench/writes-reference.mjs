// The reference of the bench of writes: the same effects by Express and pg, each one transaction with a row of an
// outbox, and without any duty: no identity, no tenant, no limit, nobody who publishes.
import { randomUUID } from 'node:crypto';
import express from 'express';
import pg from 'pg';

const [, , connectionString = ''] = process.argv;
const pool = new pg.Pool({ connectionString, max: 10 });

/** @param {(connection: pg.PoolClient) => Promise<unknown>} work */
async function transaction(work) {
  const connection = await pool.connect();
  try {
    await connection.query('BEGIN');
    const result = await work(connection);
    await connection.query('COMMIT');
    return result;
  } catch (error) {
    await connection.query('ROLLBACK');
    throw error;
  } finally {
    connection.release();
  }
}

/** @param {pg.PoolClient} connection @param {string} name @param {string} subject @param {object} payload */
const publish = (connection, name, subject, payload) =>
  connection.query('INSERT INTO outbox (id, name, subject, payload) VALUES ($1, $2, $3, $4)', [
    randomUUID(),
    name,
    subject,
    JSON.stringify(payload),
  ]);

await pool.query(`
  CREATE TABLE outbox (id uuid PRIMARY KEY, sequence bigint GENERATED ALWAYS AS IDENTITY, name text NOT NULL,
    subject text NOT NULL, payload jsonb NOT NULL, occurred_at timestamptz NOT NULL DEFAULT now());
  CREATE TABLE entry (id uuid PRIMARY KEY, type text NOT NULL, entity text NOT NULL, body text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now());
  CREATE INDEX ON entry (type, entity, created_at DESC, id);
  CREATE TABLE entry_count (type text, entity text, count integer NOT NULL, PRIMARY KEY (type, entity));
  CREATE TABLE entity (type text, id text, state text NOT NULL, revision integer NOT NULL, PRIMARY KEY (type, id));
  CREATE TABLE move (id uuid PRIMARY KEY, type text NOT NULL, entity text NOT NULL, position integer NOT NULL,
    state text NOT NULL, moved_at timestamptz NOT NULL DEFAULT now(), UNIQUE (type, entity, position));
  CREATE TABLE template (name text PRIMARY KEY, content text NOT NULL, revision integer NOT NULL);
  CREATE TABLE revision (name text, revision integer, content text NOT NULL, PRIMARY KEY (name, revision));
  CREATE TABLE setting (owner text, name text, value jsonb NOT NULL, PRIMARY KEY (owner, name));
  CREATE TABLE setting_change (id uuid PRIMARY KEY, owner text NOT NULL, name text NOT NULL, previous jsonb,
    value jsonb NOT NULL, changed_at timestamptz NOT NULL DEFAULT now());
  CREATE INDEX ON setting_change (owner, name, changed_at, id);
  CREATE TABLE follower (type text, entity text, person text, PRIMARY KEY (type, entity, person));
  CREATE TABLE contact (id uuid PRIMARY KEY, name text NOT NULL, email text UNIQUE NOT NULL);`);

const app = express();
app.use(express.json());

app.post('/entry', async ({ body: { type, entity, body } }, response) => {
  const id = randomUUID();
  await transaction(async (connection) => {
    await connection.query('INSERT INTO entry (id, type, entity, body) VALUES ($1, $2, $3, $4)', [
      id,
      type,
      entity,
      body,
    ]);
    await connection.query(
      `INSERT INTO entry_count VALUES ($1, $2, 1)
       ON CONFLICT (type, entity) DO UPDATE SET count = entry_count.count + 1`,
      [type, entity],
    );
    await publish(connection, 'entry-added', entity, { id, type, entity });
  });
  response.status(201).json({ id, type, entity, body });
});

app.post('/transition', async ({ body: { type, entity, state } }, response) => {
  const revision = await transaction(async (connection) => {
    const { rows } = await connection.query(
      'SELECT revision FROM entity WHERE type = $1 AND id = $2 FOR UPDATE',
      [type, entity],
    );
    const next = (rows[0]?.revision ?? 0) + 1;
    await connection.query(
      `INSERT INTO entity VALUES ($1, $2, $3, $4)
       ON CONFLICT (type, id) DO UPDATE SET state = excluded.state, revision = excluded.revision`,
      [type, entity, state, next],
    );
    await connection.query(
      'INSERT INTO move (id, type, entity, position, state) VALUES ($1, $2, $3, $4, $5)',
      [randomUUID(), type, entity, next, state],
    );
    await publish(connection, 'moved', entity, { type, entity, state });
    return next;
  });
  response.json({ entity, state, revision });
});

app.post('/template', async ({ body: { name, content } }, response) => {
  await transaction(async (connection) => {
    await connection.query('INSERT INTO template VALUES ($1, $2, 1)', [name, content]);
    await connection.query('INSERT INTO revision VALUES ($1, 1, $2)', [name, content]);
    await publish(connection, 'template-saved', name, { name });
  });
  response.status(201).json({ name, content });
});

app.put('/setting', async ({ body: { owner, name, value } }, response) => {
  await transaction(async (connection) => {
    const { rows } = await connection.query(
      'SELECT value FROM setting WHERE owner = $1 AND name = $2 FOR UPDATE',
      [owner, name],
    );
    await connection.query(
      'INSERT INTO setting VALUES ($1, $2, $3) ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value',
      [owner, name, JSON.stringify(value)],
    );
    await connection.query(
      'INSERT INTO setting_change (id, owner, name, previous, value) VALUES ($1, $2, $3, $4, $5)',
      [randomUUID(), owner, name, rows[0] ? JSON.stringify(rows[0].value) : null, JSON.stringify(value)],
    );
    await publish(connection, 'setting-changed', owner, { name });
  });
  response.json({ name, value });
});

app.post('/follow', async ({ body: { type, entity, person } }, response) => {
  await transaction((connection) =>
    connection.query('INSERT INTO follower VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
      type,
      entity,
      person,
    ]),
  );
  response.status(204).end();
});

app.post('/contact', async ({ body: { name, email } }, response) => {
  const id = randomUUID();
  await transaction(async (connection) => {
    await connection.query('INSERT INTO contact VALUES ($1, $2, $3)', [id, name, email]);
    await publish(connection, 'contact-created', id, { id });
  });
  response.status(201).json({ id, name, email });
});

const server = app.listen(0, '127.0.0.1', () => process.send?.(server.address()));
