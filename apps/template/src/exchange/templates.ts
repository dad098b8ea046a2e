import { MimeType, TemplateName } from '@plinth/contracts/template/shapes';
import { canonicalCulture } from '@plinth/contracts/schemas';
import { errorMessage, shownValue, type RowError } from '@plinth/exchange/row-error';
import { defineExchange, type BatchContext, type ImportRow } from '@plinth/exchange/definition';
import { breaksRule, type CellError } from '@plinth/exchange/field';
import { integerField, textField, timestampField } from '@plinth/exchange/fields';
import { rowMessage } from '@plinth/exchange/row-message';
import { validationCode } from '@plinth/kernel/problem';
import { DEFAULT_MIME_TYPE } from '../domain/template';
import {
  lockCategories,
  refusedUndos,
  saveImportedDrafts,
  undoImportedDrafts,
} from '../store/imported-drafts';
import synonyms from './templates.synonyms.json';

const CONTENT_LENGTH_MAX = 1_000_000;

/** `Templates.Templates`: every template with its newest text. An imported row is a new draft. */
export const templatesExchange = defineExchange({
  name: 'Templates.Templates',
  entityType: 'Template',
  permission: 'Templating.Templates.Manage',
  importable: true,
  table: 'template',
  // Name and culture are what a template is: rights to publish, workflow and timeline are those of one for ever.
  key: ['name', 'culture'],
  defaultSort: 'name,culture',
  searchable: ['name', 'category'],
  onInsert: { last_modified_by: 'caller-id' },
  onUpdate: { version: 'next', last_modified_at: 'now', last_modified_by: 'caller-id' },
  visibleTo: () => 'NOT t.is_gone',
  isGone: 't.is_gone',
  fields: {
    name: textField({
      column: 'name',
      header: 'Name',
      description: 'Name of the template',
      required: true,
      compose: true,
      lengthMax: 200,
      refine: readName,
      ...synonyms.name,
    }),
    culture: textField({
      column: 'culture',
      header: 'Culture',
      description: 'Language of the text as a BCP 47 tag; empty for all',
      allowsEmpty: true,
      lengthMax: 35,
      refine: readCulture,
      ...synonyms.culture,
    }),
    category: textField({
      column: 'category_name',
      header: 'Category',
      description: 'Name of a category that exists',
      lengthMax: 100,
      compose: true,
      ...synonyms.category,
    }),
    mimeType: textField({
      column: 'mime_type',
      header: 'MIME type',
      description: 'text/html, text/plain, …; empty for text/html',
      lengthMax: 127,
      allowsEmpty: true,
      refine: readMimeType,
      ...synonyms.mimeType,
    }),
    content: textField({
      column: 'content',
      header: 'Content',
      description: 'The text of the template',
      required: true,
      lengthMax: CONTENT_LENGTH_MAX,
      ...synonyms.content,
    }),
    status: integerField({
      column: 'status',
      header: 'Status',
      description: '0 Draft, 1 PendingReview, 2 Published, 3 Archived',
      readOnly: true,
    }),
    lastModifiedAt: timestampField({
      column: 'last_modified_at',
      header: 'Last modified at',
      readOnly: true,
    }),
    lastModifiedBy: textField({
      column: 'last_modified_by',
      header: 'Last modified by',
      lengthMax: 255,
      readOnly: true,
    }),
  },
  check: unknownCategories,
  afterWrite: saveImportedDrafts,
  // A template without a draft or anything published is gone.
  retire:
    'is_gone = true, status = 3, draft_id = NULL, submitted_by = NULL, category_name = NULL, requires_approval = NULLIF(requires_approval, false)',
  checkUndo: refusedUndos,
  afterUndo: undoImportedDrafts,
});

function readName(text: string): string | CellError {
  const read = TemplateName.safeParse(text);
  return read.success ? read.data : breaksRule('Format', rowMessage('forbiddenCharacters', '/ \\ ~'));
}

function readCulture(text: string): string | CellError {
  if (text.trim() === '') return '';
  return canonicalCulture(text.trim()) ?? breaksRule('Format', rowMessage('writtenLike', 'fr-CA'));
}

function readMimeType(text: string): string | CellError {
  if (text.trim() === '') return DEFAULT_MIME_TYPE;
  return MimeType.safeParse(text).success
    ? text
    : breaksRule('Format', rowMessage('writtenLike', DEFAULT_MIME_TYPE));
}

async function unknownCategories(
  rows: readonly ImportRow[],
  { connection, caller }: BatchContext,
): Promise<RowError[]> {
  const wanted = new Set(
    rows.map(({ values }) => values['category']).filter((name) => typeof name === 'string'),
  );
  const known = await lockCategories(connection, caller.tenantId, wanted);
  return rows.flatMap(({ rowNumber, values: { category } }) =>
    typeof category === 'string' && !known.has(category)
      ? [
          {
            rowNumber,
            kind: 'Validation' as const,
            column: 'category',
            value: shownValue(category),
            code: validationCode('Enum'),
            ...errorMessage(rowMessage('unknownReference', shownValue(category)), 'category'),
          },
        ]
      : [],
  );
}
