import { escapeIdentifier, type Client } from 'pg';

const TABLES = `
  SELECT c.relname AS name, (
    SELECT string_agg(quote_ident(a.attname), ', ') FROM pg_attribute AS a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns
  FROM pg_class AS c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname ~ '^(import|exchange|article)'`;

/** Backs up the imports and articles that are in a database now; what is returned restores them. Nothing else has locks of these. */
export async function backUp(admin: Client): Promise<() => Promise<void>> {
  const { rows: tables } = await admin.query<{ name: string; columns: string }>(TABLES);
  const contents: { table: string; columns: string; rows: string }[] = [];
  for (const { name, columns } of tables) {
    const table = escapeIdentifier(name);
    const { rows } = await admin.query<{ rows: string }>(
      `SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]')::text AS rows FROM ${table} AS t`,
    );
    contents.push({ table, columns, rows: rows[0]!.rows });
  }
  return async () => {
    // Neither triggers nor references: what they would write is in the backup.
    await admin.query('BEGIN; SET LOCAL session_replication_role = replica');
    for (const { table, columns, rows } of contents) {
      await admin.query(`DELETE FROM ${table}`);
      await admin.query(
        `INSERT INTO ${table} (${columns}) OVERRIDING SYSTEM VALUE
         SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`,
        [rows],
      );
    }
    await admin.query('COMMIT');
  };
}
