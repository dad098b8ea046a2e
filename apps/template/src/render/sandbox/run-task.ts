import { escapedLength, escapeHtml } from '../language/escape';
import { jsonBytes, jsonLength } from './json-length';
import { printedBand } from './printed-band';
import { evaluate } from '../language/evaluate';
import type { RenderContext } from '../language/render-context';
import { unifiedDiff } from '../language/diff';
import { readFrontMatter, type FrontMatter } from '../language/front-matter';
import { LimitError, Meter } from '../language/meter';
import { dependenciesOf, lengthOfNames, NamesToLoad, type Dependencies } from '../language/dependencies';
import { parseTemplate } from '../language/parse';
import { TemplateError, walk, type Statement } from '../language/syntax';
import { toValue, type Dict, type Value } from '../language/values';
import { variablesOf } from '../language/variables';
import { plainTextOf, tablesOf } from './html';
import type {
  TaskResult,
  ParseError,
  Partials,
  AnalyzeTask,
  RenderResult,
  RenderTask,
  Task,
} from './protocol';
import { workbookOf } from './workbook';

/** Runs one task. Errors of the template are part of its result. */
export async function runTask(task: Task): Promise<TaskResult> {
  try {
    switch (task.kind) {
      case 'render':
        return await render(task);
      case 'analyze':
        return analyze(task);
      case 'diff':
        return {
          kind: 'diff',
          unified: unifiedDiff(task.from.text, task.to.text, { from: task.from.name, to: task.to.name }),
        };
    }
  } catch (error) {
    if (error instanceof LimitError)
      return { kind: 'exhausted', message: error.message, byNames: error.limit === 'names' };
    throw error;
  }
}

const PARSED_MAX = 200;
/** Nodes of all that are kept: the next tasks, of other tenants too, work beside them. One takes some 100 bytes. */
const PARSED_NODES_MAX = 400_000;
/** So much text takes as much memory as a node. */
const NODE_CHARACTERS = 50;

/** Parsed templates by their text; the same ones are rendered again and again. */
const parsedTemplates = new Map<string, ParsedTemplate>();
let parsedNodes = 0;

interface ParsedTemplate {
  statements: Statement[];
  front: FrontMatter;
  linesBefore: number;
  dependencies: Dependencies;
}

/** @throws TemplateError */
function parseWithFrontMatter(source: string): ParsedTemplate {
  const known = parsedTemplates.get(source);
  if (known) return known;
  const { front, body, linesBefore } = readFrontMatter(source);
  const statements = withTemplateLines(linesBefore, () => parseTemplate(body));
  const template = {
    statements,
    front,
    linesBefore,
    dependencies: dependenciesOf([...statements, ...Object.values(front).flatMap(parseTemplate)]),
  };
  keep(source, template);
  return template;
}

/** A template that takes all room by itself is parsed again each time, which takes most of its time. */
function keep(source: string, template: ParsedTemplate): void {
  let nodes = source.length / NODE_CHARACTERS;
  const count = (node: object) => void (nodes += 1 + listLength(node));
  walk(template.statements, { statement: count, expression: count });
  if (nodes > PARSED_NODES_MAX) return;
  if (parsedTemplates.size >= PARSED_MAX || parsedNodes + nodes > PARSED_NODES_MAX) {
    parsedTemplates.clear();
    parsedNodes = 0;
  }
  parsedTemplates.set(source, template);
  parsedNodes += nodes;
}

/** Of what a node lists, such as the parameters of a macro, which are no nodes. */
const listLength = (node: object): number =>
  sumOf(Object.values(node).map((value) => (Array.isArray(value) ? value.length : 0)));

/** Gives an error of the body its line in the whole template. */
function withTemplateLines<Result>(linesBefore: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TemplateError) || !error.at || error.template) throw error;
    const at = { line: error.at.line + linesBefore, column: error.at.column };
    throw new TemplateError(error.message, at, error.template);
  }
}

/** Adds what is named in the template, or in partials that are known already. */
function addNamed(template: ParsedTemplate, partials: Partials, names: NamesToLoad): void {
  const seen = new Set<ParsedTemplate>();
  const collect = (one: ParsedTemplate): void => {
    if (seen.has(one)) return;
    seen.add(one);
    for (const key of one.dependencies.texts) names.add('texts', key);
    for (const name of one.dependencies.settings) names.add('settings', name);
    for (const name of one.dependencies.partials) {
      names.add('partials', name);
      const source = Object.hasOwn(partials, name) ? partials[name] : undefined;
      if (typeof source === 'string') collect(parsePartial(name, source));
    }
  };
  collect(template);
}

function parsePartial(name: string, source: string): ParsedTemplate {
  try {
    return parseWithFrontMatter(source);
  } catch (error) {
    throw error instanceof TemplateError ? new TemplateError(error.message, error.at, name) : error;
  }
}

/** A template with errors, as a result. */
function failed(reason: 'parse' | 'render', error: unknown, source: string, partials: Partials): TaskResult {
  if (!(error instanceof TemplateError)) throw error;
  const text = error.template ? (partials[error.template] ?? '') : source;
  return { kind: 'failed', reason, errors: [toParseError(error, text)] };
}

function toParseError({ message, at, template }: TemplateError, source: string): ParseError {
  const where = template ? `In the template "${template}": ${message}` : message;
  return {
    message: where.slice(0, MESSAGE_LENGTH_MAX).toWellFormed(),
    line: at?.line,
    column: at?.column,
    snippet: at && snippetOf(source, at.line, at.column),
  };
}

/** Errors say what they are about, which a template may have made as long as it likes. */
const MESSAGE_LENGTH_MAX = 1_000;
const SNIPPET_LENGTH_MAX = 80;

/** The line where it happened, or the part of it around the column. */
function snippetOf(source: string, line: number, column: number): string | undefined {
  const text = source.split('\n')[line - 1];
  if (text === undefined) return undefined;
  const start = text.length <= SNIPPET_LENGTH_MAX ? 0 : Math.max(0, column - SNIPPET_LENGTH_MAX / 2);
  return text
    .slice(start, start + SNIPPET_LENGTH_MAX)
    .trimEnd()
    .toWellFormed();
}

const isMarkupType = (mimeType: string): boolean =>
  /^(text\/html|text\/xml|application\/xml|[^;]+\+xml)\s*(;|$)/i.test(mimeType);

async function render(task: RenderTask): Promise<TaskResult> {
  let template: ParsedTemplate;
  const names = new NamesToLoad(task);
  try {
    template = parseWithFrontMatter(task.source);
    addNamed(template, task.partials, names);
    const { dependencies } = names;
    if (dependencies) return { kind: 'dependencies', dependencies };
  } catch (error) {
    return failed('parse', error, task.source, task.partials);
  }
  const context = renderContextOf(task, names);
  try {
    const body = withTemplateLines(template.linesBefore, () => evaluate(template.statements, context));
    const front = await orTooDeep(() => renderFront(template.front, context, task.format));
    const { dependencies, used } = names;
    if (dependencies) return { kind: 'dependencies', dependencies };
    const { missing } = body;
    return await orTooDeep(() => toRenderResult(task, body.text, front, { missing, used }));
  } catch (error) {
    const { dependencies } = names;
    if (dependencies && names.has('partials')) return { kind: 'dependencies', dependencies };
    return failed('render', error, task.source, task.partials);
  }
}

/** What is made of a document visits its elements inside each other. @throws LimitError where they are too deep for that */
async function orTooDeep<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof RangeError ? new LimitError('depth') : error;
  }
}

function renderContextOf(task: RenderTask, names: NamesToLoad): RenderContext {
  const globals = toValue(JSON.parse(task.globals)) as Dict;
  globals.set('settings', nested(task.settings));
  return {
    culture: task.culture,
    timeZone: task.timeZone,
    isMarkup: isMarkupType(task.mimeType),
    variables: toValue(JSON.parse(task.data)) as Dict,
    globals,
    meter: new Meter(task.limits),
    template: (name) => {
      names.add('partials', name);
      if (!Object.hasOwn(task.partials, name))
        throw new TemplateError(`The template "${name}" is not loaded yet.`, undefined);
      const source = task.partials[name];
      return typeof source === 'string' ? parsePartial(name, source).statements : undefined;
    },
    translate: (key) => {
      names.add('texts', key);
      return task.texts[key] ?? undefined;
    },
  };
}

/** `{ "A.B": "x" }` as `{ A: { B: "x" } }`. */
function nested(settings: Record<string, string | null>): Value {
  const root: Dict = new Map();
  for (const [name, value] of Object.entries(settings)) {
    const parts = name.split('.');
    const last = parts.pop()!;
    let level = root;
    for (const part of parts) {
      const next = level.get(part);
      const inner: Dict = next instanceof Map ? next : new Map();
      level.set(part, inner);
      level = inner;
    }
    if (value !== null && !level.has(last)) level.set(last, value);
    root.set(name, value ?? undefined);
  }
  return root;
}

/** Of the file name, page and margin: they are read as a whole by the service and by other processes. */
const FRONT_LINE_LENGTH_MAX = 255;

/** Subject and file name are one line of text; header and footer are what is allowed on every page that is printed. */
function renderFront(front: FrontMatter, context: RenderContext, format: RenderTask['format']): FrontMatter {
  const rendered: FrontMatter = {};
  for (const key of ['subject', 'file', 'header', 'footer', 'page', 'margin'] as const) {
    const source = front[key];
    if (source === undefined) continue;
    const isMarkup = key === 'header' || key === 'footer';
    const { text } = evaluate(parseTemplate(source), { ...context, isMarkup });
    if (isMarkup && format === 'pdf') rendered[key] = printedBand(text);
    else if (!isMarkup) {
      const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
      rendered[key] = key === 'subject' ? line : line.slice(0, FRONT_LINE_LENGTH_MAX).toWellFormed();
    }
  }
  return rendered;
}

/**
 * Of the texts of a document: as JSON they are sent, and given to the browser. All of them are in memory several times
 * before anybody can count their bytes.
 */
const JSON_LENGTH_MAX = 30_000_000;
/** Of the texts that are sent: less than half of the large responses that a service holds, which is all that one may be. */
const JSON_BYTES_MAX = 32_000_000;

async function toRenderResult(
  task: RenderTask,
  text: string,
  front: FrontMatter,
  found: Pick<RenderResult, 'missing' | 'used'>,
): Promise<TaskResult> {
  const isMarkup = isMarkupType(task.mimeType);
  const { output: lengthMax } = task.limits;
  const fronts = Object.values(front);
  // Escaping makes a text longer after the template has written it.
  const length = isMarkup || task.format === 'excel' ? text.length : escapedLength(text);
  if (length + sumOf(fronts.map((value) => value.length)) > lengthMax) throw new LimitError('output');
  const html = task.format === 'excel' ? '' : isMarkup ? text : escapeHtml(text);
  const plainText = task.format !== 'html' ? '' : isMarkup ? plainTextOf(text) : text;
  if (sumOf([html, plainText, ...fronts].map(jsonLength)) > JSON_LENGTH_MAX) throw new LimitError('output');
  const { subject = '' } = front;
  const said = task.format === 'html' ? [html, plainText, subject] : [subject];
  const bytes = sumOf(said.map(jsonBytes));
  if (bytes > JSON_BYTES_MAX) throw new LimitError('output');
  const rendered = { kind: 'rendered' as const, html: '', plainText, front, ...found, jsonBytes: bytes };
  if (task.format === 'html') return { ...rendered, html };
  if (task.format === 'pdf') return { ...rendered, page: Buffer.from(isMarkup ? html : printable(html)) };
  const tables = isMarkup ? tablesOf(text) : [];
  const workbook = await workbookOf(
    tables.length > 0 ? tables : [linesAsTable(isMarkup ? plainTextOf(text) : text)],
  );
  return { ...rendered, workbook };
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

const printable = (escaped: string): string =>
  `<!doctype html><meta charset="utf-8"><pre style="white-space: pre-wrap; font: 10pt monospace; margin: 0">${escaped}</pre>`;

/** A document without tables is one sheet of its lines. */
const linesAsTable = (text: string) => ({
  name: undefined,
  rows: text.split('\n').map((line) =>
    line.split('\t').map((cell) => ({
      text: cell,
      type: undefined,
      value: undefined,
      format: undefined,
      isHeader: false,
      columns: 1,
      rows: 1,
      align: undefined,
    })),
  ),
});

/** Of the paths of all variables: a short template can say `x.a`, `x.b` and so on, where `x` stands for a long path. */
const VARIABLES_LENGTH_MAX = 1_000_000;

function analyze(task: AnalyzeTask): TaskResult {
  try {
    const template = parseWithFrontMatter(task.source);
    const names = new NamesToLoad({ partials: task.partials, texts: {}, settings: {} });
    addNamed(template, task.partials, names);
    const { dependencies } = names;
    if (dependencies && dependencies.partials.length > 0) {
      return {
        kind: 'dependencies',
        dependencies: { partials: dependencies.partials, texts: [], settings: [] },
      };
    }
    const fronts = Object.values(template.front).flatMap(parseTemplate);
    const { model, settings } = variablesOf([...template.statements, ...fronts], (name) => {
      const source = task.partials[name];
      return typeof source === 'string' ? parseWithFrontMatter(source).statements : undefined;
    });
    const paths = [...model.map(({ name }) => name), ...settings];
    if (lengthOfNames(paths) > VARIABLES_LENGTH_MAX) throw new LimitError('output');
    return { kind: 'analyzed', errors: [], model, settings };
  } catch (error) {
    const result = failed('parse', error, task.source, task.partials);
    return result.kind === 'failed'
      ? { kind: 'analyzed', errors: result.errors, model: [], settings: [] }
      : result;
  }
}
