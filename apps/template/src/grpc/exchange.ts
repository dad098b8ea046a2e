import { templateDeleted, templateSaved } from '@plinth/contracts/template/events';
import { MimeType, TemplateName } from '@plinth/contracts/template/shapes';
import { canonicalCulture } from '@plinth/contracts/schemas';
import { said, shownValue } from '@plinth/conventions/exchange/convert';
import {
  defineExchange,
  type BatchContext,
  type ImportRow,
  type RowFault,
  type StoredRow,
  type UndoneRows,
} from '@plinth/conventions/exchange/definition';
import { breaksRule, type CellFault } from '@plinth/conventions/exchange/field';
import { integerField, textField, timestampField } from '@plinth/conventions/exchange/fields';
import { rawStatements } from '@plinth/conventions/exchange/raw-statements';
import { rowText } from '@plinth/conventions/exchange/row-texts';
import type { Caller } from '@plinth/kernel/caller';
import { validationCode } from '@plinth/kernel/problem';
import { newId } from '@plinth/kernel/uuid';
import { appendToOutbox } from '@plinth/runtime/outbox';
import { entityIdOf } from '../domain/entity-id';
import { DEFAULT_MIME_TYPE } from '../domain/template';

const CONTENT_LENGTH_MAX = 1_000_000;

/** `Templates.Templates`: every template with its newest text. An imported row is a new draft. */
export const templatesExchange = (onWrite: () => void) =>
  defineExchange({
    name: 'Templates.Templates',
    entityType: 'Template',
    permission: 'Templating.Templates.Manage',
    importable: true,
    table: 'template',
    key: ['name', 'culture'],
    defaultSort: 'name,culture',
    searchable: ['name', 'category'],
    onInsert: { last_modified_by: 'caller-id' },
    onUpdate: { version: 'next', last_modified_at: 'now', last_modified_by: 'caller-id' },
    visibleTo: () => 'NOT t.is_gone',
    fields: {
      name: textField({
        column: 'name',
        header: 'Name',
        description: 'Name of the template',
        required: true,
        normalize: true,
        lengthMax: 200,
        aliases: ['template', 'template name'],
        synonyms: [
          'title',
          'code',
          'slug',
          'template id',
          'template key',
          'mail template',
          'document name',
          'letter',
          'nom',
          'titre',
          'intitulé',
          'modèle',
          'nom du modèle',
          'gabarit',
          'nom du gabarit',
          'nom du document',
          'modèle de courriel',
          'titel',
          'bezeichnung',
          'kürzel',
          'vorlage',
          'vorlagenname',
          'name der vorlage',
          'mailvorlage',
          'dokumentname',
          'nombre',
          'título',
          'código',
          'identificador',
          'plantilla',
          'nombre de la plantilla',
          'nombre de plantilla',
          'nombre del documento',
          'plantilla de correo',
          'modelo',
        ],
        refine: readName,
      }),
      culture: textField({
        column: 'culture',
        header: 'Culture',
        description: 'Language of the text as a BCP 47 tag; empty for all',
        allowsEmpty: true,
        lengthMax: 35,
        aliases: ['culture name'],
        synonyms: [
          'language',
          'language code',
          'locale',
          'locale code',
          'lang',
          'langue',
          'code langue',
          'code de langue',
          'sprache',
          'sprachcode',
          'sprachkürzel',
          'zielsprache',
          'kultur',
          'gebietsschema',
          'idioma',
          'código de idioma',
          'lengua',
          'lenguaje',
          'cultura',
        ],
        refine: readCulture,
      }),
      category: textField({
        column: 'category_name',
        header: 'Category',
        description: 'Name of a category that exists',
        lengthMax: 100,
        normalize: true,
        synonyms: [
          'category name',
          'group',
          'folder',
          'section',
          'topic',
          'collection',
          'catégorie',
          'groupe',
          'dossier',
          'rubrique',
          'thème',
          'famille',
          'kategorie',
          'gruppe',
          'ordner',
          'verzeichnis',
          'rubrik',
          'thema',
          'categoría',
          'grupo',
          'carpeta',
          'sección',
          'tema',
          'familia',
          'clase',
        ],
      }),
      mimeType: textField({
        column: 'mime_type',
        header: 'MIME type',
        description: 'text/html, text/plain, …; empty for text/html',
        lengthMax: 127,
        allowsEmpty: true,
        aliases: ['mime', 'content type'],
        synonyms: [
          'media type',
          'file type',
          'format',
          'type of content',
          'type mime',
          'type de contenu',
          'type de média',
          'type de fichier',
          'mime typ',
          'inhaltstyp',
          'medientyp',
          'dateityp',
          'tipo mime',
          'tipo de contenido',
          'tipo de medio',
          'tipo de archivo',
          'formato',
        ],
        refine: readMimeType,
      }),
      content: textField({
        column: 'content',
        header: 'Content',
        description: 'The text of the template',
        required: true,
        lengthMax: CONTENT_LENGTH_MAX,
        aliases: ['body', 'text'],
        synonyms: [
          'source',
          'html',
          'markup',
          'body text',
          'html body',
          'html content',
          'message body',
          'template text',
          'contenu',
          'contenu html',
          'corps',
          'corps du message',
          'texte',
          'texte du modèle',
          'code source',
          'inhalt',
          'html inhalt',
          'quelltext',
          'vorlagentext',
          'text der vorlage',
          'dokumenttext',
          'nachrichtentext',
          'contenido',
          'contenido html',
          'cuerpo',
          'cuerpo del mensaje',
          'texto',
          'texto de la plantilla',
          'código fuente',
        ],
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
    afterWrite: saveDrafts,
    // Revisions are never deleted; a template without a draft or anything published is gone.
    retire:
      'is_gone = true, status = 3, draft_id = NULL, submitted_by = NULL, category_name = NULL, requires_approval = NULL',
    afterUndo: takeBackDrafts,
    afterCommit: onWrite,
  });

function readName(text: string): string | CellFault {
  const read = TemplateName.safeParse(text);
  return read.success ? read.data : breaksRule('Format', rowText('forbiddenCharacters', '/ \\ ~'));
}

function readCulture(text: string): string | CellFault {
  if (text.trim() === '') return '';
  return canonicalCulture(text.trim()) ?? breaksRule('Format', rowText('writtenLike', 'fr-CA'));
}

function readMimeType(text: string): string | CellFault {
  if (text.trim() === '') return DEFAULT_MIME_TYPE;
  return MimeType.safeParse(text).success
    ? text
    : breaksRule('Format', rowText('writtenLike', DEFAULT_MIME_TYPE));
}

async function unknownCategories(
  rows: readonly ImportRow[],
  { connection, caller }: BatchContext,
): Promise<RowFault[]> {
  const wanted = new Set(
    rows.map(({ values }) => values['category']).filter((name) => typeof name === 'string'),
  );
  if (wanted.size === 0) return [];
  const found = await connection.query<{ name: string }>(
    'SELECT name FROM template_category WHERE tenant_id = $1 AND name = ANY($2) FOR KEY SHARE',
    [caller.tenantId, [...wanted]],
  );
  const known = new Set(found.rows.map(({ name }) => name));
  return rows.flatMap(({ rowNumber, values: { category } }) =>
    typeof category === 'string' && !known.has(category)
      ? [
          {
            rowNumber,
            kind: 'Validation' as const,
            column: 'category',
            value: shownValue(category),
            code: validationCode('Enum'),
            ...said(rowText('unknownReference', shownValue(category)), 'category'),
          },
        ]
      : [],
  );
}

/** Drafts that an import made go into the history; those that they had replaced are drafts again. */
async function takeBackDrafts(
  { removed, restored }: UndoneRows,
  { connection, caller }: BatchContext,
): Promise<void> {
  const imported = [...removed, ...restored.map(({ undone }) => undone)];
  await connection.query(
    'UPDATE template_revision SET status = 3 WHERE tenant_id = $1 AND id = ANY($2::uuid[])',
    [caller.tenantId, imported.map((row) => row['draft_id'])],
  );
  await connection.query(
    `UPDATE template_revision AS r SET status = t.status FROM template AS t
     WHERE t.tenant_id = $1 AND t.id = ANY($2::uuid[]) AND r.tenant_id = $1 AND r.id = t.draft_id`,
    [caller.tenantId, restored.map(({ row }) => row['id'])],
  );
  const withDraft = restored.filter(({ row }) => row['draft_id'] !== null);
  const withoutDraft = restored.filter(({ row }) => row['draft_id'] === null);
  const tx = rawStatements(connection);
  await appendToOutbox(
    tx,
    ...removed.map((row) => deletedFact(caller, row, true)),
    ...withoutDraft.map(({ undone, row }) => deletedFact(caller, undone, row['is_gone'] === true)),
  );
  await appendToOutbox(tx, ...withDraft.map(({ row }) => savedFact(caller, row as unknown as SavedDraft)));
}

interface SavedDraft {
  name: string;
  culture: string;
  category_name: string | null;
  draft_id: string;
}

/** The rows are in the table of templates; each becomes a draft of its own, as if somebody had saved it. */
async function saveDrafts(
  rows: readonly ImportRow[],
  { connection, caller, jobId }: BatchContext,
): Promise<void> {
  const numbers = rows.map(({ rowNumber }) => rowNumber);
  const mine = 'tenant_id = $1 AND import_job_id = $2 AND import_row = ANY($3)';
  await connection.query(
    `UPDATE template_revision SET status = 3 WHERE tenant_id = $1 AND status IN (0, 1)
       AND template_id IN (SELECT id FROM template WHERE ${mine})`,
    [caller.tenantId, jobId, numbers],
  );
  const ids = numbers.map(() => newId());
  await connection.query(
    `INSERT INTO template_revision
       (tenant_id, id, template_id, number, status, mime_type, content, content_length, created_at, created_by)
     SELECT t.tenant_id, n.id, t.id,
       1 + COALESCE((SELECT max(r.number) FROM template_revision r WHERE r.tenant_id = t.tenant_id AND r.template_id = t.id), 0),
       0, t.mime_type, t.content, length(t.content), now(), $5
     FROM template t JOIN unnest($3::int[], $4::uuid[]) AS n(row, id) ON n.row = t.import_row
     WHERE t.tenant_id = $1 AND t.import_job_id = $2`,
    [caller.tenantId, jobId, numbers, ids, caller.userId],
  );
  const { rows: drafts } = await connection.query<SavedDraft>(
    `UPDATE template SET status = 0, draft_id = n.id, submitted_by = NULL, is_gone = false
     FROM unnest($3::int[], $4::uuid[]) AS n(row, id)
     WHERE n.row = template.import_row AND tenant_id = $1 AND import_job_id = $2
     RETURNING name, culture, category_name, draft_id`,
    [caller.tenantId, jobId, numbers, ids],
  );
  await appendToOutbox(rawStatements(connection), ...drafts.map((draft) => savedFact(caller, draft)));
}

const savedFact = (caller: Caller, draft: SavedDraft) => ({
  type: templateSaved,
  tenantId: caller.tenantId,
  subject: entityIdOf({ name: draft.name, culture: draft.culture || undefined }),
  payload: {
    name: draft.name,
    culture: draft.culture || null,
    revisionId: draft.draft_id,
    category: draft.category_name,
  },
  actor: caller,
});

const deletedFact = (caller: Caller, row: StoredRow, gone: boolean) => {
  const { name, culture, draft_id: revisionId } = row as unknown as SavedDraft;
  return {
    type: templateDeleted,
    tenantId: caller.tenantId,
    subject: entityIdOf({ name, culture: culture || undefined }),
    payload: { name, culture: culture || null, revisionId, gone },
    actor: caller,
  };
};
