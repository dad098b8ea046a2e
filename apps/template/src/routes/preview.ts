import { templateEndpoints } from '@plinth/contracts/template/endpoints';
import { DocumentFormat, type TemplateBatchValue } from '@plinth/contracts/template/shapes';
import type { Api } from '@plinth/http/api';
import { batchResultOf } from '@plinth/http/batch';
import { file, ok, type EndpointResponse } from '@plinth/http/response';
import type { Caller } from '@plinth/kernel/caller';
import { invalid } from '@plinth/kernel/problem';
import type { Deps } from '../compose';
import type { RenderedDocument, RenderedRevision } from '../app/renderer';
import { batchTooLarge, revisionNeverPublished, templateDoesNotParse } from '../domain/problems';
import { DEFAULT_MIME_TYPE } from '../domain/template';
import type { TemplateKey } from '../domain/template-key';
import type { RevisionWithKey } from '../store/template-store';

const { previewTemplate, renderTemplate, renderTemplateBatch, getTemplateVariables, validateTemplate } =
  templateEndpoints;

type Needs = Pick<Deps, 'templates' | 'renderer' | 'batchPlaces'>;

export function mountPreview(api: Api, { templates, renderer, batchPlaces }: Needs): void {
  /** Of earlier revisions only those that were published are rendered. */
  const publishedRevision = async (caller: Caller, name: string, id: string): Promise<RevisionWithKey> => {
    const found = await templates.getRevision(caller.tenantId, name, id);
    if (found.revision.publishedAt) return found;
    throw revisionNeverPublished();
  };

  api.on(previewTemplate, async ({ params: { name }, body, caller, signal }) => {
    const culture = body?.culture ?? undefined;
    const template = body?.content
      ? unsaved({ name, culture }, body.content, body.mimeType ?? DEFAULT_MIME_TYPE)
      : await templates.getNearest(caller.tenantId, name, culture, 'newest');
    const { format, data } = toRequest(body);
    return toResponse(
      await renderer.render({ caller, template, revisionChoice: 'newest', culture, format, data, signal }),
    );
  });

  api.on(renderTemplate, async ({ params: { name }, body, caller, signal }) => {
    const culture = body?.culture ?? undefined;
    const template = body?.revisionId
      ? await publishedRevision(caller, name, body.revisionId)
      : await templates.getNearest(caller.tenantId, name, culture, 'published');
    const { format, data } = toRequest(body);
    return toResponse(
      await renderer.render({ caller, template, revisionChoice: 'published', culture, format, data, signal }),
    );
  });

  api.on(renderTemplateBatch, async ({ params: { name }, body: { items, format }, caller, signal }) => {
    const documentFormat = format ?? DocumentFormat.Html;
    if (documentFormat !== DocumentFormat.Html && items.length > DOCUMENTS_PER_BATCH_MAX) {
      throw invalid(
        { items: 'MaximumLength' },
        `A batch can make at most ${DOCUMENTS_PER_BATCH_MAX} documents.`,
      );
    }
    const others = await templates.cultures(caller.tenantId, name);
    if (others.length === 0) await templates.getNearest(caller.tenantId, name, undefined, 'newest');
    let bytesLeft = BATCH_BYTES_MAX;
    const render = () =>
      batchResultOf(items, async ({ culture: itemCulture, data }): Promise<TemplateBatchValue> => {
        const culture = itemCulture ?? undefined;
        const template = await templates.getNearest(caller.tenantId, name, culture, 'published');
        const request = {
          caller,
          template,
          revisionChoice: 'published' as const,
          culture,
          format: documentFormat,
          data: data ?? {},
          signal,
        };
        if (bytesLeft <= 0) throw batchTooLarge(BATCH_BYTES_MAX);
        const document = await renderer.render(request);
        bytesLeft -= bytesInBatch(document);
        if (bytesLeft <= 0) throw batchTooLarge(BATCH_BYTES_MAX);
        return toBatchValue(document);
      });
    return batchPlaces.run(caller, render, signal);
  });

  api.on(getTemplateVariables, async ({ params: { name }, query: { culture }, caller }) => {
    const { revision } = await templates.getNearest(caller.tenantId, name, culture, 'newest');
    const { errors, variables } = await renderer.analyze(caller, revision.content, 'newest', culture);
    if (errors.length > 0) throw templateDoesNotParse(errors);
    return variables;
  });

  api.on(validateTemplate, async ({ params: { name }, query: { culture }, body, caller }) => {
    const source =
      body?.content ??
      (await templates.getNearest(caller.tenantId, name, culture, 'newest')).revision.content;
    const { errors, variables } = await renderer.analyze(caller, source, 'newest', culture);
    return { isValid: errors.length === 0, errors, variables };
  });
}

/** A text that somebody is writing. */
const unsaved = (key: TemplateKey, content: string, mimeType: string): RenderedRevision => ({
  key,
  revision: { id: '', content, mimeType },
});

const toRequest = (
  body:
    | { format?: DocumentFormat | null | undefined; data?: Record<string, unknown> | null | undefined }
    | null
    | undefined,
) => ({ format: body?.format ?? DocumentFormat.Html, data: body?.data ?? {} });

/** Documents take time and go into one JSON response. */
const DOCUMENTS_PER_BATCH_MAX = 100;

/** A batch is one JSON response, which is in memory as a whole. */
const BATCH_BYTES_MAX = 16 * 1024 * 1024;

const HEADER_LENGTH_MAX = 2_000;

/** The first names, as many whole ones as a header has room for. */
function namesInHeader(names: readonly string[]): string {
  let text = '';
  for (const name of names) {
    const longer = text === '' ? encodeURI(name) : `${text}, ${encodeURI(name)}`;
    if (longer.length > HEADER_LENGTH_MAX) break;
    text = longer;
  }
  return text;
}

function toResponse({
  response,
  file: content,
  missing,
}: RenderedDocument): EndpointResponse<typeof response> | EndpointResponse<undefined> {
  const names = namesInHeader(missing);
  const headers = {
    'X-Template-Warnings': String(missing.length),
    ...(names === '' ? {} : { 'X-Template-Missing-Variables': names }),
  };
  if (content) return file(content, { headers });
  return ok(response, { headers });
}

/** Of an item beside its texts: names, id, time. */
const ITEM_BYTES = 512;

/** What a document takes of a batch: as JSON, without writing it, which everybody else in the process would wait for. */
const bytesInBatch = ({ jsonBytes, file: content }: RenderedDocument): number =>
  ITEM_BYTES + jsonBytes + (content ? Math.ceil(content.content.length / 3) * 4 : 0);

const toBatchValue = ({ response, file: content }: RenderedDocument): TemplateBatchValue =>
  content
    ? {
        ...response,
        html: '',
        file: {
          name: content.name,
          mimeType: content.type,
          contentBase64: content.content.toString('base64'),
        },
      }
    : response;
