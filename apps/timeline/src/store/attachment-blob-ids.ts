/** The ids of the files of the entry `t`, separated by spaces: a column of exports. */
export const attachmentBlobIds = `(SELECT string_agg(a.blob_id::text, ' ' ORDER BY a.position) FROM attachment AS a
  WHERE a.tenant_id = t.tenant_id AND a.entry_id = t.id)`;
