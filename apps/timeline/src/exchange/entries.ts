import { BODY_LENGTH_MAX } from '@plinth/contracts/timeline/shapes';
import { defineExchange } from '@plinth/exchange/definition';
import { enumField, textField, timestampField, uuidField } from '@plinth/exchange/fields';
import { audienceOf } from '../domain/audience';
import { visibleSql } from '../store/visibility';
import { attachmentBlobIds } from '../store/attachment-blob-ids';

const NAME_LENGTH_MAX = 400;

/** `Timeline.Entries`: the entries of a tenant, as far as the caller who exports them may see them. */
export const entryExchange = defineExchange({
  name: 'Timeline.Entries',
  entityType: 'TimelineEntry',
  permission: 'Timeline.Entries.Read',
  importable: false,
  table: 'timeline_entry',
  key: [],
  defaultSort: '-createdAt',
  searchable: ['body', 'authorDisplayName'],
  visibleTo: (caller) => visibleSql(audienceOf(caller)),
  widerPermission: 'Timeline.InternalNotes.Read',
  fields: {
    entityType: textField({ column: 'entity_type', header: 'Entity Type', lengthMax: NAME_LENGTH_MAX }),
    entityId: textField({ column: 'entity_id', header: 'Entity Id', lengthMax: NAME_LENGTH_MAX }),
    entryType: {
      ...enumField({
        column: 'entry_type',
        header: 'Entry Type',
        values: { Comment: '0', InternalNote: '1', SystemLog: '2' },
        exportAs: `(ARRAY['Comment', 'InternalNote', 'SystemLog'])[t.entry_type + 1]`,
      }),
      sqlType: 'smallint',
    },
    body: textField({
      column: 'body',
      header: 'Body',
      description: 'What the system says is in English here.',
      lengthMax: BODY_LENGTH_MAX,
    }),
    authorId: textField({ column: 'author_id', header: 'Author Id', lengthMax: NAME_LENGTH_MAX }),
    authorDisplayName: textField({
      column: 'author_display_name',
      header: 'Author',
      lengthMax: NAME_LENGTH_MAX,
    }),
    parentEntryId: uuidField({ column: 'parent_entry_id', header: 'Parent Entry Id' }),
    createdAt: timestampField({ column: 'created_at', header: 'Created At' }),
    attachmentBlobIds: {
      ...textField({
        column: 'id',
        header: 'Attachment Ids',
        description: 'Ids of files, separated by spaces.',
        lengthMax: NAME_LENGTH_MAX,
        exportAs: attachmentBlobIds,
      }),
      isSecret: true,
    },
  },
});
