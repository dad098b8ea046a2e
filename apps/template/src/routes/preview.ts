import { templateEndpoints } from '@plinth/contracts/template/endpoints';
import { templateProblems as problems } from '@plinth/contracts/template/problems';
import { DocumentFormat, type TemplateBatchValue } from '@plinth/contracts/template/shapes';
import type { Api } from '@plinth/conventions/api';
import { batchResultOf } from '@plinth/conventions/batch';
import { file, multiStatus, ok, type Reply } from '@plinth/conventions/reply';
import type { Caller } from '@plinth/kernel/caller';
import { invalid } from '@plinth/kernel/problem';
import type { Deps } from '../compose';
import { title } from '../domain/template';
import { doesNotParse, type Document } from '../render/renderer';
import type { Nearest, Which } from '../store/template-store';

const { previewTemplate, renderTemplate, renderTemplateBatch, getTemplateVariables, validateTemplate } =
  templateEndpoints;

type Needs = Pick<Deps, 'templates' | 'renderer'>;

export function mountPreview(api: Api, { templates, renderer }: Needs): void {
  /** The template to render. @throws Problem when there is none, or none that is published. */
  const nearest = async (
    caller: Caller,
    name: string,
    culture: string | undefined,
    which: Which,
  ): Promise<Nearest> => {
    const found = await templates.findNearest(caller.tenantId, name, culture, which);
    if (found) return found;
    if (which === 'published' && (await templates.findNearest(caller.tenantId, name, culture, 'newest'))) {
      throw problems['template-not-published'](`${title({ name, culture })} is not published.`);
    }
    const availableCultures = await templates.cultures(caller.tenantId, name);
    throw problems['template-not-found'](
      `${title({ name, culture })} does not exist.`,
      availableCultures.length > 0 ? { extensions: { availableCultures } } : {},
    );
  };

  /** An earlier revision, of those that were once published. */
  const pinned = async (caller: Caller, name: string, id: string): Promise<Nearest> => {
    const found = await templates.getRevision(caller.tenantId, name, id);
    if (found.revision.publishedAt) return found;
    throw problems['template-not-published']('This revision was never published.');
  };

  api.on(previewTemplate, async ({ params: { name }, body, caller, signal }) => {
    const culture = body?.culture ?? undefined;
    const template = await nearest(caller, name, culture, 'newest');
    const { format, data } = toRequest(body);
    return answer(
      await renderer.render({ caller, template, which: 'newest', culture, format, data, signal }),
    );
  });

  api.on(renderTemplate, async ({ params: { name }, body, caller, signal }) => {
    const culture = body?.culture ?? undefined;
    const template = body?.revisionId
      ? await pinned(caller, name, body.revisionId)
      : await nearest(caller, name, culture, 'published');
    const { format, data } = toRequest(body);
    return answer(
      await renderer.render({ caller, template, which: 'published', culture, format, data, signal }),
    );
  });

  api.on(renderTemplateBatch, async ({ params: { name }, body: { items, format }, caller, signal }) => {
    const wanted = format ?? DocumentFormat.Html;
    if (wanted !== DocumentFormat.Html && items.length > DOCUMENTS_PER_BATCH_MAX) {
      throw invalid(
        { items: 'MaximumLength' },
        `A batch makes ${DOCUMENTS_PER_BATCH_MAX} documents at most.`,
      );
    }
    const others = await templates.cultures(caller.tenantId, name);
    if (others.length === 0) await nearest(caller, name, undefined, 'newest');
    return multiStatus(
      await batchResultOf(items, async ({ culture: itemCulture, data }): Promise<TemplateBatchValue> => {
        const culture = itemCulture ?? undefined;
        const template = await nearest(caller, name, culture, 'published');
        const request = {
          caller,
          template,
          which: 'published' as const,
          culture,
          format: wanted,
          data: data ?? {},
          signal,
        };
        return toBatchValue(await renderer.render(request));
      }),
    );
  });

  api.on(getTemplateVariables, async ({ params: { name }, query: { culture }, caller }) => {
    const { revision } = await nearest(caller, name, culture, 'newest');
    const { errors, variables } = await renderer.read(caller.tenantId, revision.content, 'newest', culture);
    if (errors.length > 0) throw doesNotParse(errors);
    return variables;
  });

  api.on(validateTemplate, async ({ params: { name }, query: { culture }, body, caller }) => {
    const stored = await nearest(caller, name, culture, 'newest');
    const source = body?.content ?? stored.revision.content;
    const { errors, variables } = await renderer.read(caller.tenantId, source, 'newest', culture);
    return { isValid: errors.length === 0, errors, variables };
  });
}

const toRequest = (
  body:
    | { format?: DocumentFormat | null | undefined; data?: Record<string, unknown> | null | undefined }
    | null
    | undefined,
) => ({ format: body?.format ?? DocumentFormat.Html, data: body?.data ?? {} });

/** Documents take time and go into one JSON answer. */
const DOCUMENTS_PER_BATCH_MAX = 100;

const HEADER_LENGTH_MAX = 2_000;

function answer({ response, file: content, missing }: Document): Reply<typeof response> | Reply<undefined> {
  const names = missing.map(encodeURI).join(', ').slice(0, HEADER_LENGTH_MAX);
  const headers = {
    'X-Template-Warnings': String(missing.length),
    ...(names === '' ? {} : { 'X-Template-Missing-Variables': names }),
  };
  return content ? file(content, { headers }) : ok(response, { headers });
}

const toBatchValue = ({ response, file: content }: Document): TemplateBatchValue =>
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
