import { EXCEL_TYPE, PDF_TYPE } from '@plinth/contracts/template/endpoints';
import { templateProblems as problems } from '@plinth/contracts/template/problems';
import {
  DocumentFormat,
  type TemplateParseError,
  type TemplatePreviewResponse,
  type TemplateVariables,
} from '@plinth/contracts/template/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import type { Problem } from '@plinth/kernel/problem';
import { globalVariables } from '../domain/global-variables';
import type { LocalizationClient } from '@plinth/conventions/localization-client';
import type { TemplateSettingsClient } from '../grpc/settings-client';
import type { Nearest, TemplateStore, Which } from '../store/template-store';
import { defaultLimits } from './language/meter';
import type { PdfPrinter } from './pdf';
import type { SandboxPool } from './pool';
import type { Answer, Partials, Rendered, RenderTask } from './sandbox/protocol';

export interface RenderRequest {
  caller: Caller;
  template: Nearest;
  /** Which revisions of included templates count. */
  which: Which;
  culture: string | undefined;
  format: DocumentFormat;
  data: Record<string, unknown>;
  signal?: AbortSignal;
}

export interface Document {
  response: TemplatePreviewResponse;
  /** For PDF and Excel. */
  file: { content: Buffer; name: string; type: string } | undefined;
  /** Variables that the data lacks, as dotted paths. */
  missing: string[];
}

export interface Reading {
  errors: TemplateParseError[];
  variables: TemplateVariables;
}

export interface TemplateRenderer {
  /** @throws Problem where the template is wrong, too expensive, or nobody has time for it. */
  render(request: RenderRequest): Promise<Document>;
  /** Errors and variables of a text; `which` and `culture` choose the templates that it includes. */
  read(tenantId: string, source: string, which: Which, culture: string | undefined): Promise<Reading>;
  diff(
    tenantId: string,
    from: { name: string; text: string },
    to: { name: string; text: string },
  ): Promise<string>;
}

interface Parts {
  templates: TemplateStore;
  sandbox: SandboxPool;
  printer: PdfPrinter;
  settings: TemplateSettingsClient;
  localization: LocalizationClient;
  clock: Clock;
}

const formats = {
  [DocumentFormat.Html]: 'html',
  [DocumentFormat.Pdf]: 'pdf',
  [DocumentFormat.Excel]: 'excel',
} as const;

/** How often a template may ask for something more; each include inside an include asks once. */
const ROUNDS_MAX = 30;
const NEEDS_KEPT_MAX = 1_000;
const CULTURE_BY_DEFAULT = 'en';

type Supplies = Pick<RenderTask, 'partials' | 'texts' | 'settings'>;

export function templateRenderer({
  templates,
  sandbox,
  printer,
  settings,
  localization,
  clock,
}: Parts): TemplateRenderer {
  /** What a revision asked for the last time, so that it is there the next time without a question. */
  const needsByRevision = new Map<string, Record<keyof Supplies, string[]>>();

  const partialsOf = async (
    tenantId: string,
    names: readonly string[],
    which: Which,
    culture: string | undefined,
  ): Promise<Partials> => {
    const found = await Promise.all(
      names.map(async (name) => {
        const nearest = await templates.findNearest(tenantId, name.normalize('NFC'), culture, which);
        return [name, nearest?.revision.content ?? null] as const;
      }),
    );
    return Object.fromEntries(found);
  };

  const supply = async (
    { caller, which, culture }: RenderRequest,
    language: string,
    supplies: Supplies,
    needs: { templates: readonly string[]; texts: readonly string[]; settings: readonly string[] },
  ): Promise<Supplies> => {
    const [partials, texts, values] = await Promise.all([
      partialsOf(caller.tenantId, needs.templates, which, culture),
      needs.texts.length > 0 ? localization.texts(caller, language, needs.texts) : {},
      needs.settings.length > 0 ? settings.visibleTo(caller, needs.settings) : {},
    ]);
    return {
      partials: { ...supplies.partials, ...partials },
      texts: { ...supplies.texts, ...texts },
      settings: { ...supplies.settings, ...values },
    };
  };

  const evaluate = async (request: RenderRequest, language: string): Promise<Rendered> => {
    const { caller, template, data } = request;
    const before = needsByRevision.get(template.revision.id);
    let supplies: Supplies = { partials: {}, texts: {}, settings: {} };
    if (before) {
      const needs = { templates: before.partials, texts: before.texts, settings: before.settings };
      supplies = await supply(request, language, supplies, needs);
    }
    const task: Omit<RenderTask, keyof Supplies> = {
      kind: 'render',
      source: template.revision.content,
      mimeType: template.revision.mimeType,
      format: formats[request.format],
      globals: JSON.stringify(globalsOf(caller, language, clock.now())),
      data: JSON.stringify(data),
      culture: language,
      timeZone: 'UTC',
      limits: defaultLimits,
    };
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const answer = await sandbox.run(caller.tenantId, { ...task, ...supplies }, request.signal);
      if (answer.kind === 'rendered') {
        remember(template.revision.id, supplies);
        return answer;
      }
      if (answer.kind !== 'needs') throw problemOf(answer);
      supplies = await supply(request, language, supplies, answer.needs);
    }
    throw problems['template-too-expensive']('Templates include each other too deeply.');
  };

  const remember = (revisionId: string, { partials, texts, settings: values }: Supplies): void => {
    const needs = {
      partials: Object.keys(partials),
      texts: Object.keys(texts),
      settings: Object.keys(values),
    };
    if (needs.partials.length + needs.texts.length + needs.settings.length === 0) return;
    if (needsByRevision.size >= NEEDS_KEPT_MAX) needsByRevision.clear();
    needsByRevision.set(revisionId, needs);
  };

  return {
    async render(request) {
      const started = performance.now();
      const { template, format, caller } = request;
      const language = request.culture ?? template.key.culture ?? CULTURE_BY_DEFAULT;
      const rendered = await evaluate(request, language);
      const content =
        format === DocumentFormat.Pdf
          ? await printer.print(caller.tenantId, rendered.html, rendered.front, request.signal)
          : rendered.workbook && Buffer.from(rendered.workbook);
      const { subject } = rendered.front;
      return {
        response: {
          html: rendered.html,
          plainText: rendered.plainText,
          ...(subject === undefined ? {} : { subject }),
          revisionId: template.revision.id,
          renderTimeMs: Math.round((performance.now() - started) * 100) / 100,
        },
        file: content && { content, ...fileOf(request, rendered) },
        missing: rendered.missing,
      };
    },

    async read(tenantId, source, which, culture) {
      let partials: Partials = {};
      for (let round = 0; round < ROUNDS_MAX; round++) {
        const answer = await sandbox.run(tenantId, { kind: 'read', source, partials });
        if (answer.kind === 'read') {
          const enriched = answer.settings.map((name) => ({ name: `settings.${name}`, type: 'string' }));
          const variables = { globalVariables, modelVariables: answer.model, enrichedVariables: enriched };
          return { errors: answer.errors.map(toParseError), variables };
        }
        if (answer.kind !== 'needs') throw problemOf(answer);
        partials = { ...partials, ...(await partialsOf(tenantId, answer.needs.templates, which, culture)) };
      }
      throw problems['template-too-expensive']('Templates include each other too deeply.');
    },

    async diff(tenantId, from, to) {
      const answer = await sandbox.run(tenantId, { kind: 'diff', from, to });
      if (answer.kind === 'diff') return answer.unified;
      throw problemOf(answer);
    },
  };
}

const globalsOf = ({ tenantId, tenantName, userId, userName }: Caller, culture: string, now: Date) => ({
  now: now.toISOString(),
  culture,
  tenant: { id: tenantId, name: tenantName ?? '' },
  user: { id: userId, name: userName },
});

function fileOf({ template, format }: RenderRequest, { front }: Rendered): { name: string; type: string } {
  const { name, culture } = template.key;
  const base = front.file || (culture ? `${name}-${culture}` : name);
  return format === DocumentFormat.Pdf
    ? { name: `${base}.pdf`, type: PDF_TYPE }
    : { name: `${base}.xlsx`, type: EXCEL_TYPE };
}

const toParseError = ({ message, line, column, snippet }: TemplateParseError): TemplateParseError => ({
  message,
  ...(line === undefined ? {} : { line }),
  ...(column === undefined ? {} : { column }),
  ...(snippet === undefined ? {} : { snippet }),
});

/** What is wrong with a template, as the problem of whoever wanted it rendered. */
function problemOf(answer: Answer): Problem {
  if (answer.kind === 'exhausted') return problems['template-too-expensive'](answer.message);
  if (answer.kind !== 'failed') throw new Error(`Unexpected answer of a rendering process: ${answer.kind}`);
  const slug = answer.reason === 'parse' ? 'template-does-not-parse' : 'template-does-not-render';
  return problems[slug](answer.errors[0]?.message ?? 'The template is wrong.', {
    extensions: { parseErrors: answer.errors.map(toParseError) },
  });
}

/** The problem of a template that was read and has errors. */
export const doesNotParse = (errors: TemplateParseError[]): Problem =>
  problems['template-does-not-parse'](errors[0]?.message ?? 'The template is wrong.', {
    extensions: { parseErrors: errors },
  });
