import { escapeHtml } from '../language/escape';
import { evaluate, type Surroundings } from '../language/evaluate';
import { unifiedDiff } from '../language/diff';
import { readFrontMatter, type FrontMatter } from '../language/front-matter';
import { LimitError, Meter } from '../language/meter';
import { needsOf, type Needs } from '../language/needs';
import { parseTemplate } from '../language/parse';
import { TemplateError, type Statement } from '../language/syntax';
import { toValue, type Dict, type Value } from '../language/values';
import { variablesOf } from '../language/variables';
import { plainTextOf, tablesOf } from './html';
import type { Answer, ParseError, Partials, ReadTask, RenderTask, Task } from './protocol';
import { workbookOf } from './workbook';

/** Does one task. Whatever a template does wrong is part of the answer. */
export async function work(task: Task): Promise<Answer> {
  try {
    switch (task.kind) {
      case 'render':
        return await render(task);
      case 'read':
        return read(task);
      case 'diff':
        return {
          kind: 'diff',
          unified: unifiedDiff(task.from.text, task.to.text, { from: task.from.name, to: task.to.name }),
        };
    }
  } catch (error) {
    if (error instanceof LimitError) return { kind: 'exhausted', message: error.message };
    throw error;
  }
}

const PARSED_MAX = 200;
const PARSED_CHARACTERS_MAX = 4_000_000;

/** Parsed templates by their text; the same ones are rendered again and again. */
const parsed = new Map<string, Page>();

interface Page {
  statements: Statement[];
  front: FrontMatter;
  linesBefore: number;
  needs: Needs;
}

/** @throws TemplateError */
function parsePage(source: string): Page {
  const known = parsed.get(source);
  if (known) return known;
  const { front, body, linesBefore } = readFrontMatter(source);
  const statements = located(linesBefore, () => parseTemplate(body));
  const page = {
    statements,
    front,
    linesBefore,
    needs: needsOf([...statements, ...Object.values(front).flatMap(parseTemplate)]),
  };
  const characters = [...parsed.keys()].reduce((total, text) => total + text.length, source.length);
  if (parsed.size >= PARSED_MAX || characters > PARSED_CHARACTERS_MAX) parsed.clear();
  parsed.set(source, page);
  return page;
}

/** Gives an error of the body its line in the whole template. */
function located<Result>(linesBefore: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TemplateError) || !error.at || error.template) throw error;
    const at = { line: error.at.line + linesBefore, column: error.at.column };
    throw new TemplateError(error.message, at, error.template);
  }
}

/** What is asked for by name, through everything that is here already, and is not here. */
function lacking(page: Page, partials: Partials, texts: object, settings: object): Needs | undefined {
  const needs = { templates: new Set<string>(), texts: new Set<string>(), settings: new Set<string>() };
  const seen = new Set<Page>();
  const collect = (one: Page): void => {
    if (seen.has(one)) return;
    seen.add(one);
    one.needs.texts.filter((key) => !Object.hasOwn(texts, key)).forEach((key) => needs.texts.add(key));
    one.needs.settings
      .filter((name) => !Object.hasOwn(settings, name))
      .forEach((name) => needs.settings.add(name));
    for (const name of one.needs.templates) {
      if (!Object.hasOwn(partials, name)) needs.templates.add(name);
      else if (typeof partials[name] === 'string') collect(parsePartial(name, partials[name]));
    }
  };
  collect(page);
  const found = { templates: [...needs.templates], texts: [...needs.texts], settings: [...needs.settings] };
  return found.templates.length + found.texts.length + found.settings.length > 0 ? found : undefined;
}

function parsePartial(name: string, source: string): Page {
  try {
    return parsePage(source);
  } catch (error) {
    throw error instanceof TemplateError ? new TemplateError(error.message, error.at, name) : error;
  }
}

/** A template that is wrong as written, as an answer. */
function failed(reason: 'parse' | 'render', error: unknown, source: string, partials: Partials): Answer {
  if (!(error instanceof TemplateError)) throw error;
  const text = error.template ? (partials[error.template] ?? '') : source;
  return { kind: 'failed', reason, errors: [toParseError(error, text)] };
}

function toParseError({ message, at, template }: TemplateError, source: string): ParseError {
  const where = template ? `In the template "${template}": ${message}` : message;
  return {
    message: where,
    line: at?.line,
    column: at?.column,
    snippet: at && snippetOf(source, at.line, at.column),
  };
}

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

async function render(task: RenderTask): Promise<Answer> {
  let page: Page;
  try {
    page = parsePage(task.source);
    const needs = lacking(page, task.partials, task.texts, task.settings);
    if (needs) return { kind: 'needs', needs };
  } catch (error) {
    return failed('parse', error, task.source, task.partials);
  }
  const late: Needs = { templates: [], texts: [], settings: [] };
  const surroundings = surroundingsOf(task, late);
  try {
    const body = located(page.linesBefore, () => evaluate(page.statements, surroundings));
    const front = renderFront(page.front, surroundings);
    if (late.texts.length > 0) return { kind: 'needs', needs: late };
    return await documentOf(task, body.text, front, body.missing);
  } catch (error) {
    if (late.templates.length > 0) return { kind: 'needs', needs: late };
    return failed('render', error, task.source, task.partials);
  }
}

function surroundingsOf(task: RenderTask, late: Needs): Surroundings {
  const variables = toValue({ ...JSON.parse(task.globals) }) as Dict;
  variables.set('settings', nested(task.settings));
  for (const [name, value] of toValue(JSON.parse(task.data)) as Dict) variables.set(name, value);
  return {
    culture: task.culture,
    timeZone: task.timeZone,
    isMarkup: isMarkupType(task.mimeType),
    variables,
    meter: new Meter(task.limits),
    template: (name) => {
      if (!Object.hasOwn(task.partials, name)) {
        late.templates.push(name);
        throw new TemplateError(`The template "${name}" is on its way.`, undefined);
      }
      const source = task.partials[name];
      return typeof source === 'string' ? parsePartial(name, source).statements : undefined;
    },
    translate: (key) => {
      if (!Object.hasOwn(task.texts, key)) late.texts.push(key);
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

/** Subject and file name are one line of text; header and footer are markup of the printed page. */
function renderFront(front: FrontMatter, surroundings: Surroundings): FrontMatter {
  const rendered: FrontMatter = {};
  for (const key of ['subject', 'file', 'header', 'footer', 'page', 'margin'] as const) {
    const source = front[key];
    if (source === undefined) continue;
    const isMarkup = key === 'header' || key === 'footer';
    const { text } = evaluate(parseTemplate(source), { ...surroundings, isMarkup });
    rendered[key] = isMarkup ? text : text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  }
  return rendered;
}

async function documentOf(
  task: RenderTask,
  text: string,
  front: FrontMatter,
  missing: string[],
): Promise<Answer> {
  const isMarkup = isMarkupType(task.mimeType);
  const html = isMarkup ? text : escapeHtml(text);
  const rendered = { kind: 'rendered' as const, html, plainText: '', front, missing };
  if (task.format === 'html') return { ...rendered, plainText: isMarkup ? plainTextOf(text) : text };
  if (task.format === 'pdf') return { ...rendered, html: isMarkup ? text : printable(html) };
  const tables = isMarkup ? tablesOf(text) : [];
  const workbook = await workbookOf(
    tables.length > 0 ? tables : [linesAsTable(isMarkup ? plainTextOf(text) : text)],
  );
  return { ...rendered, html: '', workbook };
}

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

function read(task: ReadTask): Answer {
  try {
    const page = parsePage(task.source);
    const needs = lacking(page, task.partials, {}, {});
    if (needs && needs.templates.length > 0) {
      return { kind: 'needs', needs: { templates: needs.templates, texts: [], settings: [] } };
    }
    const fronts = Object.values(page.front).flatMap(parseTemplate);
    const { model, settings } = variablesOf([...page.statements, ...fronts], (name) => {
      const source = task.partials[name];
      return typeof source === 'string' ? parsePage(source).statements : undefined;
    });
    return { kind: 'read', errors: [], model, settings };
  } catch (error) {
    const answer = failed('parse', error, task.source, task.partials);
    return answer.kind === 'failed'
      ? { kind: 'read', errors: answer.errors, model: [], settings: [] }
      : answer;
  }
}
