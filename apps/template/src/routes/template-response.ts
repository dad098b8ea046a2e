import type {
  TemplateDetail,
  TemplateRevision,
  TemplateRevisionSummary,
} from '@plinth/contracts/template/shapes';
import type { Revision, Template } from '../domain/template';
import type { TemplateKey } from '../domain/template-key';

type RevisionWithoutContent = Omit<Revision, 'content' | 'number'>;

const published = ({ publishedAt, publishedBy }: RevisionWithoutContent) => ({
  ...(publishedAt ? { publishedAt } : {}),
  ...(publishedBy ? { publishedBy } : {}),
});

export const toRevision = (revision: Revision): TemplateRevision => ({
  revisionId: revision.id,
  content: revision.content,
  mimeType: revision.mimeType,
  status: revision.status,
  createdAt: revision.createdAt,
  createdBy: revision.createdBy,
  ...published(revision),
});

export const toSummary = (
  revision: RevisionWithoutContent & { contentLength: number },
): TemplateRevisionSummary => ({
  revisionId: revision.id,
  mimeType: revision.mimeType,
  status: revision.status,
  createdAt: revision.createdAt,
  createdBy: revision.createdBy,
  ...published(revision),
  contentLength: revision.contentLength,
});

export const toKey = ({ name, culture }: { name: string; culture: string | null | undefined }) => ({
  name,
  ...(culture ? { culture } : {}),
});

export const toDetail = (template: Template): TemplateDetail => ({
  ...toKey(template),
  ...(template.category ? { category: template.category } : {}),
  ...(template.draft ? { draft: toRevision(template.draft) } : {}),
  ...(template.published ? { published: toRevision(template.published) } : {}),
});

/** The path of a template, below the prefix. */
export const pathOf = ({ name, culture }: TemplateKey): string =>
  `/templates/${encodeURIComponent(name)}${culture ? `?culture=${encodeURIComponent(culture)}` : ''}`;
