/**
 * Renders templates. A template is evaluated in a sandbox that cannot ask for anything, so each round evaluates it from
 * the start, with the partials, texts and settings that the round before found missing.
 */
import { EXCEL_TYPE, PDF_TYPE } from '@plinth/contracts/template/endpoints';
import {
  DocumentFormat,
  type TemplateParseError,
  type TemplatePreviewResponse,
  type TemplateVariables,
} from '@plinth/contracts/template/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { composed } from '@plinth/kernel/composed';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import type { Problem } from '@plinth/kernel/problem';
import { heldBytes, type ByteBudget } from '@plinth/runtime/process/byte-budget';
import { globalVariables } from '../domain/global-variables';
import {
  includesTooDeep,
  rendererFull,
  templateDoesNotParse,
  templateDoesNotRender,
  templateTooExpensive,
} from '../domain/problems';
import type { LocalizationClient } from '@plinth/clients/localization-client';
import type { PdfRenderer } from '../grpc/pdf-renderer-client';
import type { TemplateSettings } from '../grpc/template-settings';
import type { Dependencies } from '../render/language/dependencies';
import type { Revision } from '../domain/template';
import type { TemplateKey } from '../domain/template-key';
import type { TemplateStore, RevisionChoice } from '../store/template-store';
import { RememberedDependencies } from './remembered-dependencies';
import { defaultLimits } from '../render/language/meter';
import type { SandboxPool } from '../render/sandbox-pool';
import type { TaskResult, Partials, RenderResult, RenderTask } from '../render/sandbox/protocol';

/** What a rendering needs of a revision; the id of a text that is not stored is empty. */
export interface RenderedRevision {
  key: TemplateKey;
  revision: Pick<Revision, 'id' | 'content' | 'mimeType'>;
}

export interface RenderRequest {
  caller: Caller;
  template: RenderedRevision;
  /** Which revisions of included templates count. */
  revisionChoice: RevisionChoice;
  culture: string | undefined;
  format: DocumentFormat;
  data: Record<string, unknown>;
  signal?: AbortSignal;
}

export interface RenderedDocument {
  response: TemplatePreviewResponse;
  /** For PDF and Excel. */
  file: { content: Buffer; name: string; type: string } | undefined;
  /** Variables that the data lacks, as dotted paths. */
  missing: string[];
  /** Bytes of the texts of the response as JSON; with a file, of its subject only. */
  jsonBytes: number;
}

export interface TemplateAnalysis {
  errors: TemplateParseError[];
  variables: TemplateVariables;
}

export interface TemplateRenderer {
  /** @throws Problem where the template has errors or is too expensive, or too many others are waiting. */
  render(request: RenderRequest): Promise<RenderedDocument>;
  /** Finds errors and variables of a text; `revisionChoice` and `culture` select the templates that it includes. */
  analyze(
    owner: ShareOwner,
    source: string,
    revisionChoice: RevisionChoice,
    culture: string | undefined,
  ): Promise<TemplateAnalysis>;
  diff(
    owner: ShareOwner,
    from: { name: string; text: string },
    to: { name: string; text: string },
  ): Promise<string>;
}

interface RendererDeps {
  templates: TemplateStore;
  sandbox: SandboxPool;
  pdfRenderer: PdfRenderer;
  settings: TemplateSettings;
  localization: LocalizationClient;
  clock: Clock;
  /** Of what renderings hold: templates with all that they are evaluated with, and documents that wait to be printed. */
  bytes: ByteBudget;
}

/**
 * Counts a text that is held in memory until its rendering ends.
 * @throws Problem where there is no room for it; an error once the rendering has ended, which what it began may not know
 */
type Hold = (text: string | null) => void;

const formats = {
  [DocumentFormat.Html]: 'html',
  [DocumentFormat.Pdf]: 'pdf',
  [DocumentFormat.Excel]: 'excel',
} as const;

/** How often one template is evaluated; each include inside an include takes one more. */
const ROUNDS_MAX = 30;
/** The templates that one template includes, also through others. */
const PARTIALS_MAX = 200;
const PARTIALS_LENGTH_MAX = 4_000_000;
const PARTIALS_AT_ONCE = 8;
const RETRY_AFTER_SECONDS = 2;
const DEFAULT_CULTURE = 'en';

/** Of the texts of a rendering so many are asked for together: the longest ones fit a message of 4 MiB. */
const TEXTS_AT_ONCE = 200;

/** A rendering failed by what its names stand for, or by how much they name: it may succeed with fewer of them. */
class NamesFailed extends Error {
  constructor(override readonly cause: unknown) {
    super('The names of a rendering failed.');
  }
}

type ResolvedDependencies = Pick<RenderTask, keyof Dependencies>;

export function templateRenderer({
  templates,
  sandbox,
  pdfRenderer,
  settings,
  localization,
  clock,
  bytes,
}: RendererDeps): TemplateRenderer {
  const remembered = new RememberedDependencies();

  /** Does work that holds texts: those that it begins with, and those that it loads, from when they are there. */
  const holding = async <Result>(
    owner: ShareOwner,
    texts: readonly string[],
    work: (hold: Hold) => Promise<Result>,
  ): Promise<Result> => {
    const held = bytes.reserve(owner);
    let hasEnded = false;
    const hold: Hold = (text) => {
      // Nobody would give it back.
      if (hasEnded) throw new Error('The rendering has ended.');
      const refusal = held.grow(heldBytes(text ?? ''));
      if (refusal) throw rendererFull(refusal, 'large templates waiting to be rendered', RETRY_AFTER_SECONDS);
    };
    try {
      texts.forEach(hold);
      return await work(hold);
    } finally {
      hasEnded = true;
      held.release();
    }
  };

  /** Adds the templates of these names, a few at a time, so that those beyond the limit are never in memory. */
  const withPartials = async (
    known: Partials,
    names: readonly string[],
    tenantId: string,
    revisionChoice: RevisionChoice,
    culture: string | undefined,
    hold: Hold,
  ): Promise<Partials> => {
    const partials = new Map(Object.entries(known));
    if (partials.size + names.length > PARTIALS_MAX)
      throw templateTooExpensive(`A template includes at most ${PARTIALS_MAX} others.`);
    let length = Object.values(known).reduce((sum, text) => sum + (text?.length ?? 0), 0);
    const find = async (name: string): Promise<void> => {
      const nearest = await templates.findNearest(tenantId, composed(name) ?? name, culture, revisionChoice);
      const content = nearest?.revision.content ?? null;
      hold(content);
      partials.set(name, content);
      length += content?.length ?? 0;
    };
    for (let start = 0; start < names.length; start += PARTIALS_AT_ONCE) {
      await Promise.all(names.slice(start, start + PARTIALS_AT_ONCE).map(find));
      if (length > PARTIALS_LENGTH_MAX)
        throw templateTooExpensive(
          `The templates that a template includes have at most ${PARTIALS_LENGTH_MAX} characters together.`,
        );
    }
    return Object.fromEntries(partials);
  };

  /** Holds a document in the budget until it is printed: most of the time it waits for its turn. */
  const print = async (
    { caller, signal }: RenderRequest,
    page: Uint8Array,
    { front }: RenderResult,
  ): Promise<Buffer> => {
    const held = bytes.reserve(caller);
    const refusal = held.grow(page.length);
    if (refusal) throw rendererFull(refusal, 'large documents waiting to be printed', RETRY_AFTER_SECONDS);
    try {
      return await pdfRenderer.print(caller, page, front, signal);
    } finally {
      held.release();
    }
  };

  /** Texts by their keys, some at a time, so that those beyond what may be held are never in memory. */
  const textsOf = async (
    caller: Caller,
    language: string,
    keys: readonly string[],
    hold: Hold,
  ): Promise<RenderTask['texts']> => {
    const texts = new Map<string, string | null>();
    for (let start = 0; start < keys.length; start += TEXTS_AT_ONCE) {
      const some = await localization.texts(caller, language, keys.slice(start, start + TEXTS_AT_ONCE));
      for (const [key, text] of Object.entries(some)) {
        hold(text);
        texts.set(key, text);
      }
    }
    return Object.fromEntries(texts);
  };

  const settingsOf = async (
    caller: Caller,
    names: readonly string[],
    hold: Hold,
  ): Promise<RenderTask['settings']> => {
    if (names.length === 0) return {};
    const values = await settings.visibleTo(caller, names);
    Object.values(values).forEach(hold);
    return values;
  };

  /** @throws NamesFailed */
  const resolve = async (
    { caller, revisionChoice, culture }: RenderRequest,
    language: string,
    names: Dependencies,
    hold: Hold,
    known: Partials = {},
  ): Promise<ResolvedDependencies> => {
    const [partials, texts, values] = await Promise.all([
      withPartials(known, names.partials, caller.tenantId, revisionChoice, culture, hold),
      textsOf(caller, language, names.texts, hold),
      settingsOf(caller, names.settings, hold),
    ]).catch((error: unknown) => {
      throw new NamesFailed(error);
    });
    return { partials, texts, settings: values };
  };

  const evaluate = async (request: RenderRequest, language: string): Promise<RenderResult> => {
    const { caller, template } = request;
    const { id, content } = template.revision;
    const data = JSON.stringify(request.data);
    const evaluateAfter = (known: Dependencies | undefined): Promise<RenderResult> =>
      holding(caller, [content, data], (hold) => evaluateWith(request, language, data, { known, hold }));
    const known = remembered.of(id);
    const result = await evaluateAfter(known)
      .catch((error: unknown) => {
        if (!known || !(error instanceof NamesFailed) || request.signal?.aborted) throw error;
        // What renderings depended on before may be too much beside what this one does, or be what cannot be loaded.
        remembered.forget(id);
        return evaluateAfter(undefined);
      })
      .catch((error: unknown) => {
        throw error instanceof NamesFailed ? error.cause : error;
      });
    if (id !== '') remembered.remember(id, result.used);
    return result;
  };

  const evaluateWith = async (
    request: RenderRequest,
    language: string,
    data: string,
    { known, hold }: { known: Dependencies | undefined; hold: Hold },
  ): Promise<RenderResult> => {
    const { caller, template } = request;
    let dependencies: ResolvedDependencies = known
      ? await resolve(request, language, known, hold)
      : { partials: {}, texts: {}, settings: {} };
    const task: Omit<RenderTask, keyof Dependencies> = {
      kind: 'render',
      source: template.revision.content,
      mimeType: template.revision.mimeType,
      format: formats[request.format],
      globals: JSON.stringify(globalsOf(caller, language, clock.now())),
      data,
      culture: language,
      timeZone: 'UTC',
      limits: defaultLimits,
    };
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const result = await sandbox.run(caller, { ...task, ...dependencies }, request.signal);
      if (result.kind === 'rendered') return result;
      if (result.kind === 'exhausted' && result.byNames) throw new NamesFailed(problemOf(result));
      if (result.kind !== 'dependencies') throw problemOf(result);
      const more = await resolve(request, language, result.dependencies, hold, dependencies.partials);
      dependencies = {
        partials: more.partials,
        texts: { ...dependencies.texts, ...more.texts },
        settings: { ...dependencies.settings, ...more.settings },
      };
    }
    throw includesTooDeep();
  };

  return {
    async render(request) {
      const started = performance.now();
      const { template } = request;
      const language = request.culture ?? template.key.culture ?? DEFAULT_CULTURE;
      const rendered = await evaluate(request, language);
      const { page, workbook } = rendered;
      const content = page ? await print(request, page, rendered) : workbook && Buffer.from(workbook);
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
        jsonBytes: rendered.jsonBytes,
      };
    },

    analyze: (owner, source, revisionChoice, culture) =>
      holding(owner, [source], async (hold) => {
        let partials: Partials = {};
        for (let round = 0; round < ROUNDS_MAX; round++) {
          const result = await sandbox.run(owner, { kind: 'analyze', source, partials });
          if (result.kind === 'analyzed') {
            const enriched = result.settings.map((name) => ({ name: `settings.${name}`, type: 'string' }));
            const variables = { globalVariables, modelVariables: result.model, enrichedVariables: enriched };
            return { errors: result.errors.map(toParseError), variables };
          }
          if (result.kind !== 'dependencies') throw problemOf(result);
          const names = result.dependencies.partials;
          partials = await withPartials(partials, names, owner.tenantId, revisionChoice, culture, hold);
        }
        throw includesTooDeep();
      }),

    diff: (owner, from, to) =>
      holding(owner, [from.text, to.text], async () => {
        const result = await sandbox.run(owner, { kind: 'diff', from, to });
        if (result.kind === 'diff') return result.unified;
        throw problemOf(result);
      }),
  };
}

const globalsOf = ({ tenantId, tenantName, userId, userName }: Caller, culture: string, now: Date) => ({
  now: now.toISOString(),
  culture,
  tenant: { id: tenantId, name: tenantName ?? '' },
  user: { id: userId, name: userName },
});

function fileOf(
  { template, format }: RenderRequest,
  { front }: RenderResult,
): { name: string; type: string } {
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

/** The problem of a task that did not succeed. */
function problemOf(result: TaskResult): Problem {
  if (result.kind === 'exhausted') return templateTooExpensive(result.message);
  if (result.kind !== 'failed') throw new Error(`Unexpected result of a sandbox process: ${result.kind}`);
  const errors = result.errors.map(toParseError);
  return result.reason === 'parse' ? templateDoesNotParse(errors) : templateDoesNotRender(errors);
}
