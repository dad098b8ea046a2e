import { batchOf } from '@plinth/kernel/batch-result';
import { pagedResult } from '@plinth/kernel/paged-result';
import { z } from 'zod';
import {
  BLANKS,
  CONTROL_CHARACTERS,
  Culture,
  Id,
  text,
  TextInPath,
  Timestamp,
  textWithout,
} from '../schemas';

export const TemplateLifecycleStatus = { Draft: 0, PendingReview: 1, Published: 2, Archived: 3 } as const;
export type TemplateLifecycleStatus = (typeof TemplateLifecycleStatus)[keyof typeof TemplateLifecycleStatus];

export const DocumentFormat = { Html: 0, Pdf: 1, Excel: 2 } as const;
export type DocumentFormat = (typeof DocumentFormat)[keyof typeof DocumentFormat];

const Status = z.enum(TemplateLifecycleStatus).meta({ id: 'TemplateLifecycleStatus', type: 'integer' });
const Format = z.enum(DocumentFormat).meta({ id: 'DocumentFormat', type: 'integer' });

/** A tilde joins name and culture in the id of a workflow entity; `/templates/categories` is the list of categories. */
const UNFIT_FOR_A_NAME = /[/\\~\p{Cc}]|^(?:\.\.?|categories)$/u;

export const TemplateName = text(200, 1)
  .refine((name) => !UNFIT_FOR_A_NAME.test(name), {
    params: { rule: 'Format' },
    message:
      'A name has no slash, backslash, tilde or control character, and is not ".", ".." or "categories".',
  })
  .meta({ pattern: `^${textWithout(`/\\\\~${CONTROL_CHARACTERS}`, BLANKS)}$` });

/** A name in a path: one that cannot exist is just not found. */
export const TemplateNameInPath = TextInPath;

const CategoryName = text(100, 1);

export const MimeType = z
  .string()
  .max(127)
  .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;\s*charset="?utf-8"?)?$/i)
  .meta({ examples: ['text/html', 'text/plain'] });

const TemplateKey = { name: z.string(), culture: z.string().optional() };

export const TemplateListItem = z
  .object({
    ...TemplateKey,
    category: z.string().optional(),
    status: Status,
    mimeType: z.string(),
    lastModifiedAt: Timestamp,
    lastModifiedBy: z.string(),
    hasPublishedVersion: z.boolean(),
  })
  .meta({ id: 'TemplateListItem' });

export const TemplateListPage = pagedResult(TemplateListItem).meta({ id: 'PagedResultOfTemplateListItem' });

export const TemplateRevision = z
  .object({
    revisionId: z.string(),
    content: z.string(),
    mimeType: z.string(),
    status: Status,
    createdAt: Timestamp,
    createdBy: z.string(),
    publishedAt: Timestamp.optional(),
    publishedBy: z.string().optional(),
  })
  .meta({ id: 'TemplateRevision' });

export const TemplateDetail = z
  .object({
    ...TemplateKey,
    category: z.string().optional(),
    draft: TemplateRevision.optional(),
    published: TemplateRevision.optional(),
  })
  .meta({ id: 'TemplateDetail' });

export const TemplateRevisionSummary = TemplateRevision.omit({ content: true })
  .extend({ contentLength: z.int() })
  .meta({ id: 'TemplateRevisionSummary' });

export const TemplateHistory = z
  .object({
    revisions: z.array(TemplateRevisionSummary),
    totalCount: z.int(),
    page: z.int(),
    pageSize: z.int(),
  })
  .meta({ id: 'TemplateHistory' });

export const SaveTemplateRequest = z
  .object({
    name: TemplateName,
    culture: Culture.nullish(),
    content: z.string().min(1),
    mimeType: MimeType.nullish(),
    category: CategoryName.nullish(),
    requiresApproval: z
      .boolean()
      .nullish()
      .describe(
        'Whether this template needs approval before publication; `null` leaves it to the setting `Service.Templates.ApprovalRequired`.',
      ),
  })
  .meta({ id: 'SaveTemplateRequest' });

export const TemplateLifecycleInfo = z
  .object({
    ...TemplateKey,
    currentStatus: Status,
    workflowEnabled: z.boolean(),
    availableTransitions: z.array(Status),
    blockedTransitions: z
      .array(z.object({ status: Status, problem: z.string(), reason: z.string() }))
      .max(4)
      .describe('Where the caller cannot take it now, and why: the slug of the problem, and a sentence.'),
  })
  .meta({ id: 'TemplateLifecycleInfo' });

/** An object of any members. None is looked at: a body has room for a hundred thousand, which would take most of its time. */
const RenderData = z
  .custom<Record<string, unknown>>()
  .check(({ value, issues }) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      issues.push({ code: 'invalid_type', expected: 'record', input: value });
  })
  .meta({ type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} });

const RenderInput = z.object({
  culture: Culture.nullish(),
  data: RenderData.nullish(),
});

const RenderRequest = RenderInput.extend({ format: Format.nullish() });

export const TemplatePreviewRequest = RenderRequest.extend({
  content: z
    .string()
    .min(1)
    .nullish()
    .describe('Rendered instead of what is stored; then the template need not exist. Nothing is saved.'),
  mimeType: MimeType.nullish().describe('The media type of `content`; `text/html` when absent.'),
}).meta({ id: 'TemplatePreviewRequest' });

export const TemplateRenderRequest = RenderRequest.extend({
  revisionId: Id.nullish().describe('A revision that was published; the published one when absent.'),
}).meta({ id: 'TemplateRenderRequest' });

export const TemplateRenderBatchRequest = batchOf(RenderInput)
  .extend({ format: Format.nullish() })
  .meta({ id: 'TemplateRenderBatchRequest' });

export const TemplatePreviewResponse = z
  .object({
    html: z.string(),
    plainText: z.string().optional(),
    subject: z.string().optional(),
    revisionId: z.string().describe('Empty for a text that is not stored.'),
    renderTimeMs: z.number(),
  })
  .meta({ id: 'TemplatePreviewResponse' });

/** A document of a batch, where the response is JSON and cannot be the file itself. */
export const TemplateBatchValue = TemplatePreviewResponse.extend({
  file: z.object({ name: z.string(), mimeType: z.string(), contentBase64: z.string() }).optional(),
}).meta({ id: 'TemplateBatchValue' });

export const TemplateParseError = z
  .object({
    message: z.string(),
    line: z.int().optional(),
    column: z.int().optional(),
    snippet: z.string().optional(),
  })
  .meta({ id: 'TemplateParseError' });

export const TemplateVariable = z
  .object({
    name: z.string(),
    type: z.string(),
    description: z.string().optional(),
    example: z.string().optional(),
  })
  .meta({ id: 'TemplateVariable' });

export const TemplateVariables = z
  .object({
    globalVariables: z.array(TemplateVariable),
    modelVariables: z.array(TemplateVariable),
    enrichedVariables: z.array(TemplateVariable),
  })
  .meta({ id: 'TemplateVariables' });

export const ValidateTemplateRequest = z
  .object({ content: z.string().nullish(), mimeType: MimeType.nullish() })
  .meta({ id: 'ValidateTemplateRequest' });

export const TemplateValidation = z
  .object({ isValid: z.boolean(), errors: z.array(TemplateParseError), variables: TemplateVariables })
  .meta({ id: 'TemplateValidation' });

/** A template that the platform brings along for tenants to copy. */
const galleryTemplate = {
  name: z.string(),
  title: z.string(),
  description: z.string(),
  category: z.string(),
  /** What it is made for, the best first. */
  formats: z.array(Format).max(3),
};

export const TemplateGalleryItem = z.object(galleryTemplate).meta({ id: 'TemplateGalleryItem' });

export const TemplateGalleryDetail = z
  .object({
    ...galleryTemplate,
    culture: z.string().describe('The language that it is in: the nearest to the one asked for.'),
    mimeType: z.string(),
    content: z.string(),
    sampleData: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'TemplateGalleryDetail' });

export const TemplateDiff = z
  .object({ from: z.string(), to: z.string(), unified: z.string() })
  .meta({ id: 'TemplateDiff' });

/** Categories of a tenant. */
export const CATEGORIES_MAX = 500;

export const TemplateCategory = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().optional(),
    icon: z.string().optional(),
    sortOrder: z.int(),
    templateCount: z.int(),
  })
  .meta({ id: 'TemplateCategory' });

const SortOrder = z.int32();

export const CreateTemplateCategoryRequest = z
  .object({
    name: CategoryName,
    description: text(500).nullish(),
    icon: text(100).nullish(),
    sortOrder: SortOrder.nullish(),
  })
  .meta({ id: 'CreateTemplateCategoryRequest' });

export const UpdateTemplateCategoryRequest = CreateTemplateCategoryRequest.extend({
  sortOrder: SortOrder,
}).meta({ id: 'UpdateTemplateCategoryRequest' });

export type TemplateListItem = z.input<typeof TemplateListItem>;
export type TemplateRevision = z.input<typeof TemplateRevision>;
export type TemplateRevisionSummary = z.input<typeof TemplateRevisionSummary>;
export type TemplateDetail = z.input<typeof TemplateDetail>;
export type TemplateParseError = z.output<typeof TemplateParseError>;
export type TemplateVariable = z.output<typeof TemplateVariable>;
export type TemplateVariables = z.output<typeof TemplateVariables>;
export type TemplatePreviewResponse = z.output<typeof TemplatePreviewResponse>;
export type TemplateBatchValue = z.output<typeof TemplateBatchValue>;
export type TemplateGalleryItem = z.output<typeof TemplateGalleryItem>;
export type TemplateGalleryDetail = z.output<typeof TemplateGalleryDetail>;
export type SaveTemplateRequest = z.output<typeof SaveTemplateRequest>;
export type TemplateCategory = z.input<typeof TemplateCategory>;
