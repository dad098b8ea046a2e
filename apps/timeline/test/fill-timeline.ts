import type { Client } from 'pg';

/** The database makes a row of each ending of a name, which takes longer than everything else of an entry. */
const PEOPLE_MAX = 5_000;

/**
 * Half of the entries are of one invoice, the others of one each; all have a file and a follower, and alan was
 * notified of half of them and has read nearly all, boole of the others and has read none.
 * @param people how many there are in the directory
 */
export async function fillTimeline(
  admin: Client,
  tenantId: string,
  count: number,
  people = Math.min(count, PEOPLE_MAX),
): Promise<void> {
  const rows = {
    entry: `(tenant_id, id, entity_type, entity_id, entry_type, body, author_id, author_display_name, created_at)
      SELECT tenant, md5(tenant::text || n)::uuid, 'Invoice', CASE WHEN n % 2 = 0 THEN 'long' ELSE n::text END, 0, 'Paid', 'ada',
        'Ada', now()`,
    shared_entry: `(tenant_id, entity_type, entity_id_head, id, entry_ids, entity_ids, body, message_key, message_values,
        author_id, author_display_name, created_at)
      SELECT tenant, 'Invoice', left(n::text, 16), gen_random_uuid(), ARRAY[gen_random_uuid()], ARRAY[n::text], 'Paid',
        'workflow.moved', '{}', 'ada', 'Ada', now()`,
    entry_count: `(tenant_id, entity_type, entity_id, public_count, internal_count)
      SELECT tenant, 'Invoice', n::text, 1, 0`,
    blob: `(tenant_id, id, file_name, mime_type, size_bytes, sha256, uploaded_by)
      SELECT tenant, md5(tenant::text || n)::uuid, 'a.txt', 'text/plain', 1, '', 'ada'`,
    attachment: `(tenant_id, entry_id, position, blob_id)
      SELECT tenant, md5(tenant::text || n)::uuid, 0, md5(tenant::text || n)::uuid`,
    follower: `(tenant_id, entity_type, entity_id, user_id, internal, since)
      SELECT tenant, 'Invoice', n::text, 'grace', false, now()`,
    person: `(tenant_id, user_id, display_name, seen_at) SELECT tenant, n::text, 'Adada', now()`,
    notification_count: `(tenant_id, user_id, last_sequence) SELECT tenant, n::text, 1`,
    notification: `(tenant_id, id, user_id, sequence, kind, internal, entry_id, created_at,
        read_at)
      SELECT tenant, gen_random_uuid(), CASE WHEN n % 2 = 1 THEN 'alan' ELSE 'boole' END, n, 'Entry', false,
        md5(tenant::text || n)::uuid, now() + n * interval '1 second', CASE WHEN n % 2 = 1 AND n > 8 THEN now() END`,
    due_entry: `(tenant_id, entry_id) SELECT tenant, md5(tenant::text || n)::uuid`,
    executed_operation: `(tenant_id, operation_id, result) SELECT tenant, gen_random_uuid()::text, '{}'`,
  };
  for (const [table, columns] of Object.entries(rows))
    await admin.query(
      `INSERT INTO ${table} ${columns} FROM (SELECT $1::uuid AS tenant) AS one, generate_series(1, $2::int) AS n`,
      [tenantId, table === 'person' ? people : count],
    );
}
