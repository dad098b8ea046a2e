import { batchResult } from '@plinth/kernel/batch-result';
import { OFFSET_MAX, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, type ListRules } from '@plinth/kernel/list-query';
import { z } from 'zod';
import { endpoint, permission } from '../endpoint';
import { Culture, Id } from '../schemas';
import {
  CATEGORIES_MAX,
  CreateTemplateCategoryRequest,
  SaveTemplateRequest,
  TemplateBatchValue,
  TemplateCategory,
  TemplateDetail,
  TemplateDiff,
  TemplateGalleryDetail,
  TemplateGalleryItem,
  TemplateHistory,
  TemplateLifecycleInfo,
  TemplateLifecycleStatus,
  TemplateListPage,
  TemplateNameInPath,
  TemplatePreviewRequest,
  TemplatePreviewResponse,
  TemplateRenderBatchRequest,
  TemplateRenderRequest,
  TemplateRevision,
  TemplateValidation,
  TemplateVariables,
  UpdateTemplateCategoryRequest,
  ValidateTemplateRequest,
} from './shapes';

const mayRead = permission('Templating.Templates.Read');
const mayManage = permission('Templating.Templates.Manage');
const mayPublish = permission('Templating.Templates.Publish');
const mayManageCategories = permission('Templating.Categories.Manage');

const byName = z.object({ name: TemplateNameInPath });
const byRevision = byName.extend({ id: Id });
const byId = z.object({ id: Id });

/** `?culture=` is the same as no culture. */
const OptionalCulture = Culture.or(z.literal('').transform(() => undefined)).optional();
const byCulture = z.object({ culture: OptionalCulture });

const PositiveInteger = z
  .string()
  .regex(/^0*[1-9]\d*$/, 'must be a whole number from 1.')
  .transform(Number);
const integerFrom1 = { type: 'integer', minimum: 1, pattern: undefined } as const;
const HistoryPage = {
  page: PositiveInteger.meta({
    ...integerFrom1,
    description: 'Number of the page, from 1.',
    maximum: OFFSET_MAX / PAGE_SIZE_MAX,
    default: 1,
  }).optional(),
  pageSize: PositiveInteger.meta({
    ...integerFrom1,
    description: `Revisions of a page, at most ${PAGE_SIZE_MAX}; larger values are reduced to ${PAGE_SIZE_MAX}.`,
    default: PAGE_SIZE_DEFAULT,
  }).optional(),
};

/** A status in a query, by its name in any case or its number. */
const StatusInQuery = z
  .string()
  .transform((text, context) => {
    const found = Object.entries(TemplateLifecycleStatus).find(
      ([name, value]) => name.toLowerCase() === text.toLowerCase() || String(value) === text,
    );
    if (found) return found[1];
    const message = `must be one of ${Object.keys(TemplateLifecycleStatus).join(', ')}.`;
    context.addIssue({ code: 'custom', message, params: { rule: 'Format' } });
    return z.NEVER;
  })
  .meta({
    type: 'string',
    enum: Object.entries(TemplateLifecycleStatus).flat().map(String),
    description: 'The number or the name of a status.',
  })
  .optional();

export const templateList: ListRules = {
  filterable: {
    name: { type: 'string' },
    culture: { type: 'string' },
    category: { type: 'string' },
    status: { type: 'enum', values: TemplateLifecycleStatus },
    mimeType: { type: 'string' },
    lastModifiedAt: { type: 'timestamp' },
    lastModifiedBy: { type: 'string' },
  },
  sortable: ['name', 'status', 'category', 'culture', 'lastModifiedAt'],
  defaultSort: '-lastModifiedAt',
  searchable: ['name', 'category'],
  cursor: true,
};

/** The exact types of files made from templates. */
export const PDF_TYPE = 'application/pdf';
export const EXCEL_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

const rendered = {
  status: 200,
  body: TemplatePreviewResponse,
  file: [PDF_TYPE, EXCEL_TYPE],
  description: 'JSON for HTML and text, the file itself for PDF and Excel.',
} as const;

const renderProblems = [
  'template-not-found',
  'template-does-not-parse',
  'template-does-not-render',
  'template-too-expensive',
  'renderer-busy',
] as const;

const getTemplates = endpoint({
  method: 'GET',
  path: '/templates',
  summary: 'List templates',
  access: mayRead,
  query: z.object({ status: StatusInQuery, category: z.string().optional(), culture: OptionalCulture }),
  list: templateList,
  success: { status: 200, body: TemplateListPage },
  cache: 'list',
});

const getTemplate = endpoint({
  method: 'GET',
  path: '/templates/:name',
  summary: 'Read a template with its draft and its published revision',
  access: mayRead,
  params: byName,
  query: byCulture,
  success: { status: 200, body: TemplateDetail },
  problems: ['template-not-found'],
  cache: 'user-data',
  etag: true,
});

const postTemplate = endpoint({
  method: 'POST',
  path: '/templates',
  summary: 'Create a template as a draft',
  description: 'A template that does not parse is kept, too, but it cannot be published.',
  access: mayManage,
  body: SaveTemplateRequest,
  success: { status: 201, body: TemplateDetail },
  problems: ['template-exists'],
  etag: true,
});

const putTemplate = endpoint({
  method: 'PUT',
  path: '/templates/:name',
  summary: 'Save the draft of a template',
  description:
    'Makes the template where it does not exist. `mimeType`, `category` and `requiresApproval` stay as they are when ' +
    'absent. Saving during a review takes the draft back to Draft.',
  access: mayManage,
  params: byName,
  body: SaveTemplateRequest,
  success: { status: 200, body: TemplateDetail },
  alternatives: [{ status: 201, body: TemplateDetail }],
  etag: true,
  ifMatch: true,
  ifNoneMatch: true,
});

const deleteTemplate = endpoint({
  method: 'DELETE',
  path: '/templates/:name',
  aliases: ['/templates/:name/draft'],
  summary: 'Delete the draft of a template',
  description: 'A template with nothing published is gone then.',
  access: mayManage,
  params: byName,
  query: byCulture,
  success: { status: 204 },
  problems: ['template-not-found', 'draft-not-found'],
  ifMatch: true,
});

const publishTemplate = endpoint({
  method: 'POST',
  path: '/templates/:name/publish',
  summary: 'Publish the draft',
  description:
    'Where approval is needed the draft must be in review, and another person must have submitted it. `If-Match` with the tag of the template publishes what was read, and nothing that was submitted since.',
  access: mayPublish,
  params: byName,
  query: byCulture,
  body: z.unknown().nullish(),
  success: { status: 204 },
  problems: [
    'template-not-found',
    'template-without-draft',
    'template-needs-review',
    'template-submitted-by-caller',
    'template-does-not-parse',
  ],
  ifMatch: true,
});

const unpublishTemplate = endpoint({
  method: 'POST',
  path: '/templates/:name/unpublish',
  summary: 'Take the published revision back',
  description:
    'It is the draft again; where a newer draft exists, that one stays and the published one is archived.',
  access: mayPublish,
  params: byName,
  query: byCulture,
  body: z.unknown().nullish(),
  success: { status: 204 },
  problems: ['template-not-found', 'template-not-published'],
});

const getTemplateLifecycle = endpoint({
  method: 'GET',
  path: '/templates/:name/lifecycle',
  summary: 'Read where a template stands and where the caller could take it now',
  access: mayRead,
  params: byName,
  query: byCulture,
  success: { status: 200, body: TemplateLifecycleInfo },
  problems: ['template-not-found'],
  cache: 'user-data',
});

const getTemplateHistory = endpoint({
  method: 'GET',
  path: '/templates/:name/history',
  summary: 'List all revisions of a template, newest first',
  access: mayRead,
  params: byName,
  query: byCulture.extend(HistoryPage),
  success: { status: 200, body: TemplateHistory },
  problems: ['template-not-found'],
  cache: 'list',
});

const getTemplateRevision = endpoint({
  method: 'GET',
  path: '/templates/:name/revisions/:id',
  aliases: ['/templates/:name/history/:id'],
  summary: 'Read one revision',
  access: mayRead,
  params: byRevision,
  success: { status: 200, body: TemplateRevision },
  problems: ['template-not-found', 'revision-not-found'],
  cache: 'user-data',
  etag: true,
});

const previewTemplate = endpoint({
  method: 'POST',
  path: '/templates/:name/preview',
  summary: 'Render the draft, or the published revision where there is no draft',
  description:
    'With `content` a text that is not saved. ' +
    'Missing variables render empty; the header `X-Template-Warnings` counts them and `X-Template-Missing-Variables` names them.',
  access: mayRead,
  params: byName,
  body: TemplatePreviewRequest.nullish(),
  repeatable: true,
  success: rendered,
  problems: renderProblems,
  rateLimitClass: 'expensive',
});

const renderTemplate = endpoint({
  method: 'POST',
  path: '/templates/:name/render',
  summary: 'Render the published revision, or an earlier one that was published',
  access: mayRead,
  params: byName,
  body: TemplateRenderRequest.nullish(),
  repeatable: true,
  success: rendered,
  problems: [...renderProblems, 'template-not-published', 'revision-not-found'],
  rateLimitClass: 'expensive',
});

const renderTemplateBatch = endpoint({
  method: 'POST',
  path: '/templates/:name/render-batch',
  summary: 'Render the published revision once for each item',
  description: 'With `format` Pdf or Excel each value carries its document in `file`.',
  access: mayRead,
  params: byName,
  body: TemplateRenderBatchRequest,
  repeatable: true,
  success: {
    status: 207,
    body: batchResult(TemplateBatchValue).meta({ id: 'BatchResultOfTemplateBatchValue' }),
  },
  problems: ['template-not-found', 'template-not-published', 'renderer-busy'],
  rateLimitClass: 'expensive',
});

const getTemplateVariables = endpoint({
  method: 'GET',
  path: '/templates/:name/variables',
  summary: 'List the variables that a template reads, through its includes and layouts',
  access: mayRead,
  params: byName,
  query: byCulture,
  success: { status: 200, body: TemplateVariables },
  problems: ['template-not-found', 'template-does-not-parse'],
  cache: 'user-data',
});

const validateTemplate = endpoint({
  method: 'POST',
  path: '/templates/:name/validate',
  summary: 'Check a text, or the stored draft, without saving anything',
  access: mayRead,
  params: byName,
  query: byCulture,
  body: ValidateTemplateRequest.nullish(),
  repeatable: true,
  success: { status: 200, body: TemplateValidation },
  problems: ['template-not-found'],
});

const restoreTemplateRevision = endpoint({
  method: 'POST',
  path: '/templates/:name/revisions/:id/restore',
  summary: 'Save the text of an earlier revision as the new draft',
  description:
    '`If-Match` with the tag of the template restores over what was read, and nothing that was saved since.',
  access: mayManage,
  params: byRevision,
  body: z.unknown().nullish(),
  success: { status: 200, body: TemplateDetail },
  problems: ['template-not-found', 'revision-not-found'],
  etag: true,
  ifMatch: true,
});

const getTemplateDiff = endpoint({
  method: 'GET',
  path: '/templates/:name/diff',
  summary: 'Compare two revisions as a unified diff',
  access: mayRead,
  params: byName,
  query: z.object({ from: Id, to: Id }),
  success: { status: 200, body: TemplateDiff },
  problems: ['template-not-found', 'revision-not-found'],
  cache: 'user-data',
});

const getTemplateGallery = endpoint({
  method: 'GET',
  path: '/template-gallery',
  summary: 'List the templates that the platform brings along for copying',
  access: mayRead,
  query: byCulture,
  success: { status: 200, body: z.array(TemplateGalleryItem).max(100) },
  cache: 'user-data',
});

const getTemplateGalleryItem = endpoint({
  method: 'GET',
  path: '/template-gallery/:name',
  summary: 'Read a template of the gallery in a language, with sample data',
  access: mayRead,
  params: byName,
  query: byCulture,
  success: { status: 200, body: TemplateGalleryDetail },
  problems: ['gallery-template-not-found'],
  cache: 'user-data',
});

const getTemplateCategories = endpoint({
  method: 'GET',
  path: '/template-categories',
  aliases: ['/templates/categories'],
  summary: 'List the categories with the number of their templates',
  access: mayRead,
  success: { status: 200, body: z.array(TemplateCategory).max(CATEGORIES_MAX) },
  cache: 'user-data',
});

const getTemplateCategory = endpoint({
  method: 'GET',
  path: '/template-categories/:id',
  aliases: ['/templates/categories/:id'],
  summary: 'Read one category',
  access: mayRead,
  params: byId,
  success: { status: 200, body: TemplateCategory },
  problems: ['category-not-found'],
  cache: 'user-data',
  etag: true,
});

const postTemplateCategory = endpoint({
  method: 'POST',
  path: '/template-categories',
  aliases: ['/templates/categories'],
  summary: 'Create a category',
  access: mayManageCategories,
  body: CreateTemplateCategoryRequest,
  success: { status: 201, body: TemplateCategory },
  problems: ['category-exists', 'quota-exceeded'],
  etag: true,
});

const putTemplateCategory = endpoint({
  method: 'PUT',
  path: '/template-categories/:id',
  aliases: ['/templates/categories/:id'],
  summary: 'Change a category; a new name carries its templates along',
  access: mayManageCategories,
  params: byId,
  body: UpdateTemplateCategoryRequest,
  success: { status: 200, body: TemplateCategory },
  problems: ['category-not-found', 'category-exists'],
  etag: true,
  ifMatch: true,
});

const deleteTemplateCategory = endpoint({
  method: 'DELETE',
  path: '/template-categories/:id',
  aliases: ['/templates/categories/:id'],
  summary: 'Delete a category that no template has',
  access: mayManageCategories,
  params: byId,
  success: { status: 204 },
  problems: ['category-not-found', 'category-in-use'],
  ifMatch: true,
});

export const templateEndpoints = {
  getTemplates,
  getTemplate,
  postTemplate,
  putTemplate,
  deleteTemplate,
  publishTemplate,
  unpublishTemplate,
  getTemplateLifecycle,
  getTemplateHistory,
  getTemplateRevision,
  previewTemplate,
  renderTemplate,
  renderTemplateBatch,
  getTemplateVariables,
  validateTemplate,
  restoreTemplateRevision,
  getTemplateDiff,
  getTemplateGallery,
  getTemplateGalleryItem,
  getTemplateCategories,
  getTemplateCategory,
  postTemplateCategory,
  putTemplateCategory,
  deleteTemplateCategory,
};
