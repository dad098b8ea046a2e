const content = '{# subject: Welcome, {{ name }} #}\n<p>Hello {{ name }}.</p>';

const revision = {
  revisionId: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55',
  mimeType: 'text/html',
  status: 2,
  createdAt: '2026-11-21T12:00:00.000Z',
  createdBy: 'ada',
  publishedAt: '2026-11-21T12:05:00.000Z',
  publishedBy: 'ada',
};

const template = { name: 'welcome', culture: 'fr', category: 'Letters' };

const variables = {
  globalVariables: [{ name: 'now', type: 'datetime', description: 'The time of rendering.' }],
  modelVariables: [{ name: 'name', type: 'string' }],
  enrichedVariables: [],
};

const rendered = {
  html: '<p>Hello Ada.</p>',
  plainText: 'Hello Ada.',
  subject: 'Welcome, Ada',
  revisionId: revision.revisionId,
  renderTimeMs: 2.4,
};

const category = {
  name: 'Letters',
  description: 'What customers get by post or mail.',
  icon: 'mail',
  sortOrder: 1,
};

const galleryItem = {
  name: 'invoice',
  title: 'Invoice',
  description: 'An invoice with its lines, taxes and a sum.',
  category: 'Finance',
  formats: [1, 2, 0],
};

/** Examples of the shapes of templates, by the names of the shapes. */
export const templateExamples: Record<string, unknown> = {
  TemplateListItem: {
    ...template,
    status: 2,
    mimeType: 'text/html',
    lastModifiedAt: '2026-11-21T12:00:00.000Z',
    lastModifiedBy: 'ada',
    hasPublishedVersion: true,
  },
  TemplateRevision: { ...revision, content },
  TemplateRevisionSummary: { ...revision, contentLength: content.length },
  TemplateDetail: { ...template, published: { ...revision, content } },
  SaveTemplateRequest: { name: 'welcome', content, mimeType: 'text/html' },
  TemplateLifecycleInfo: {
    name: 'welcome',
    culture: 'fr',
    currentStatus: 0,
    workflowEnabled: true,
    availableTransitions: [1],
    blockedTransitions: [
      { status: 2, problem: 'template-needs-review', reason: 'Somebody else must review it first.' },
    ],
  },
  TemplatePreviewRequest: { culture: 'fr', data: { name: 'Ada' }, content },
  TemplateRenderRequest: { culture: 'fr', data: { name: 'Ada' }, format: 1 },
  TemplateRenderBatchRequest: {
    items: [{ data: { name: 'Ada' } }, { data: { name: 'Charles' } }],
    format: 0,
  },
  TemplatePreviewResponse: rendered,
  TemplateBatchValue: rendered,
  TemplateParseError: {
    message: 'Expected elif, else, or endif, got end of file.',
    line: 1,
    column: 11,
    snippet: '{% if x %}',
  },
  TemplateVariables: variables,
  ValidateTemplateRequest: { content, mimeType: 'text/html' },
  TemplateValidation: { isValid: true, errors: [], variables },
  TemplateGalleryItem: galleryItem,
  TemplateGalleryDetail: {
    ...galleryItem,
    culture: 'en',
    mimeType: 'text/html',
    content: '{# subject: Invoice {{ number }} #}\n<h1>Invoice {{ number }}</h1>',
    sampleData: { number: '2026-0417' },
  },
  TemplateDiff: {
    from: revision.revisionId,
    to: '01939c5e-8d20-7a41-8c11-5e0f7b9a6c02',
    unified:
      '@@ -1,2 +1,2 @@\n {# subject: Welcome, {{ name }} #}\n-<p>Hello {{ name }}.</p>\n+<p>Welcome back, {{ name }}.</p>\n',
  },
  TemplateCategory: { id: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55', ...category, templateCount: 4 },
  CreateTemplateCategoryRequest: category,
  UpdateTemplateCategoryRequest: category,
};
