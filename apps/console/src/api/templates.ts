import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import { templateEndpoints } from '@plinth/contracts/template/endpoints';
import { createClient } from '@plinth/sdk/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { clientOptions } from './platform';
import type { Entity } from './workflow';

export const templates = createClient(templateEndpoints, clientOptions);
const settings = createClient(
  { getSettingDefinitions: settingsEndpoints.getSettingDefinitions },
  clientOptions,
);

type BodyOf<Call extends (...input: never[]) => Promise<{ body: unknown }>> = Awaited<
  ReturnType<Call>
>['body'];
export type TemplateListItem = BodyOf<typeof templates.getTemplates>['items'][number];
export type TemplateDetail = BodyOf<typeof templates.getTemplate>;
export type TemplateRevision = BodyOf<typeof templates.getTemplateRevision>;
export type TemplateRevisionSummary = BodyOf<typeof templates.getTemplateHistory>['revisions'][number];
export type GalleryItem = BodyOf<typeof templates.getTemplateGallery>[number];
export type GalleryTemplate = BodyOf<typeof templates.getTemplateGalleryItem>;

/** A template is known by its name and its culture; undefined is the one without a culture. */
export interface TemplateKey {
  name: string;
  culture: string | undefined;
}

/** The query of an address that names a culture. */
export const cultureQuery = (culture: string | undefined) => (culture === undefined ? {} : { culture });

/** The id of a template for the workflow service. */
export const entityOf = ({ name, culture }: TemplateKey) => ({
  entityType: 'Template',
  entityId: culture === undefined ? name : `${name}~${culture}`,
});

/** The template that an entity of the workflow service is; undefined for entities of other kinds. */
export function templateOf({ entityType, entityId }: Entity): TemplateKey | undefined {
  if (entityType !== 'Template') return undefined;
  const [name = '', culture] = entityId.split('~');
  return { name, culture };
}

export interface TemplateFilters {
  search: string;
  status: string;
  category: string;
  mimeType: string;
}

export const templatesQuery = ({ search, status, category, mimeType }: TemplateFilters) =>
  infiniteQueryOptions({
    queryKey: ['templates', 'list', search, status, category, mimeType],
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...(status ? { status } : {}), ...(category ? { category } : {}) };
      const filter = mimeType ? { 'mimeType.eq': mimeType } : {};
      const list = { cursor: pageParam, pageSize: 30, filter, ...(search ? { search } : {}) };
      return (await templates.getTemplates({ query, list, signal })).body;
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: (previous) => previous,
  });

/** The cultures in which a template exists; undefined is the one without. */
export const culturesQuery = (name: string) =>
  queryOptions({
    queryKey: ['templates', 'cultures', name],
    queryFn: async ({ signal }) => {
      const list = { filter: { 'name.eq': name }, sort: 'culture', pageSize: 100, skipTotalCount: true };
      return (await templates.getTemplates({ list, signal })).body.items;
    },
  });

export const templateQuery = ({ name, culture }: TemplateKey) =>
  queryOptions({
    queryKey: ['templates', 'one', name, culture ?? ''],
    queryFn: async ({ signal }) => {
      const query = cultureQuery(culture);
      const { body, etag } = await templates.getTemplate({ params: { name }, query, signal });
      return { ...body, etag };
    },
  });

export const lifecycleQuery = ({ name, culture }: TemplateKey) =>
  queryOptions({
    queryKey: ['templates', 'lifecycle', name, culture ?? ''],
    queryFn: async ({ signal }) => {
      const query = cultureQuery(culture);
      return (await templates.getTemplateLifecycle({ params: { name }, query, signal })).body;
    },
  });

export const revisionsQuery = ({ name, culture }: TemplateKey) =>
  infiniteQueryOptions({
    queryKey: ['templates', 'revisions', name, culture ?? ''],
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...cultureQuery(culture), page: String(pageParam), pageSize: '20' };
      return (await templates.getTemplateHistory({ params: { name }, query, signal })).body;
    },
    initialPageParam: 1,
    getNextPageParam: ({ page, pageSize, totalCount }) =>
      page * pageSize < totalCount ? page + 1 : undefined,
  });

export const revisionQuery = (name: string, id: string) =>
  queryOptions({
    queryKey: ['templates', 'revision', name, id],
    queryFn: async ({ signal }) =>
      (await templates.getTemplateRevision({ params: { name, id }, signal })).body,
    staleTime: Infinity,
  });

export type TemplateCategory = Awaited<ReturnType<typeof templates.getTemplateCategories>>['body'][number];

export const categoriesQuery = queryOptions({
  queryKey: ['templates', 'categories'],
  queryFn: async ({ signal }) => (await templates.getTemplateCategories({ signal })).body,
  staleTime: 60_000,
});

/** A category as it was read, with the version by which it is changed. */
export const categoryQuery = (id: string) =>
  queryOptions({
    queryKey: ['templates', 'categories', id],
    queryFn: async ({ signal }) => {
      const { body, etag } = await templates.getTemplateCategory({ params: { id }, signal });
      return { category: body, etag };
    },
    // As it was when somebody began to change it.
    staleTime: Infinity,
    gcTime: 0,
  });

/** What is wrong with a text, and which variables it reads. */
export const validationQuery = ({ name, culture }: TemplateKey, content: string) =>
  queryOptions({
    queryKey: ['templates', 'validation', name, culture ?? '', content],
    queryFn: async ({ signal }) => {
      const query = cultureQuery(culture);
      return (await templates.validateTemplate({ params: { name }, query, body: { content }, signal })).body;
    },
    enabled: content !== '',
    placeholderData: (previous) => previous,
    staleTime: Infinity,
    gcTime: 10_000,
  });

export interface Rendering {
  name: string;
  culture: string | undefined;
  content: string;
  mimeType: string;
  data: Record<string, unknown>;
}

const Html = 0;
export const Pdf = 1;
export const Excel = 2;

const bodyOf = ({ culture, content, mimeType, data }: Rendering) => ({
  content,
  mimeType,
  data,
  ...cultureQuery(culture),
});

/** A text as a page and as text. */
export const previewQuery = (rendering: Rendering) =>
  queryOptions({
    queryKey: ['templates', 'preview', rendering],
    queryFn: async ({ signal }) => {
      const body = { ...bodyOf(rendering), format: Html as 0 };
      const response = await templates.previewTemplate({ params: { name: rendering.name }, body, signal });
      if (!('html' in response.body)) throw new Error('A page was expected.');
      const missing = response.headers.get('x-template-missing-variables') ?? '';
      return { ...response.body, missing: missing === '' ? [] : missing.split(', ').map(decodeURI) };
    },
    enabled: rendering.content !== '',
    placeholderData: (previous) => previous,
    gcTime: 10_000,
    staleTime: 60_000,
  });

/** A text as a file: PDF or Excel. */
export const documentQuery = (rendering: Rendering, format: typeof Pdf | typeof Excel) =>
  queryOptions({
    queryKey: ['templates', 'document', format, rendering],
    queryFn: async ({ signal }) => {
      const body = { ...bodyOf(rendering), format };
      const response = await templates.previewTemplate({ params: { name: rendering.name }, body, signal });
      if ('html' in response.body) throw new Error('A file was expected.');
      const fileName = response.body.fileName ?? rendering.name;
      return { fileName, content: await response.body.blob() };
    },
    enabled: rendering.content !== '',
    placeholderData: (previous) => previous,
    gcTime: 10_000,
    staleTime: 60_000,
  });

export const galleryQuery = (culture: string) =>
  queryOptions({
    queryKey: ['template-gallery', culture],
    queryFn: async ({ signal }) => (await templates.getTemplateGallery({ query: { culture }, signal })).body,
    staleTime: Infinity,
  });

export const galleryItemQuery = (name: string, culture: string) =>
  queryOptions({
    queryKey: ['template-gallery', culture, name],
    queryFn: async ({ signal }) =>
      (await templates.getTemplateGalleryItem({ params: { name }, query: { culture }, signal })).body,
    staleTime: Infinity,
  });

/** The settings that a template may read. */
export const settingNamesQuery = queryOptions({
  queryKey: ['setting-definitions'],
  queryFn: async ({ signal }) =>
    (await settings.getSettingDefinitions({ signal })).body.map(({ name }) => name),
  staleTime: Infinity,
});
