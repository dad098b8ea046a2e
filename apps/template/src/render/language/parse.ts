import { parse } from 'nunjucks/src/parser';
import { filters } from './filters';
import {
  TemplateError,
  type Arguments,
  type BinaryOperator,
  type CompareOperator,
  type Expression,
  type Parameter,
  type Position,
  type Statement,
} from './syntax';
import { tests } from './tests';

/** What a node of the Nunjucks parser has; which members are there depends on `typename`. */
interface RawNode {
  typename: string;
  lineno?: number;
  colno?: number;
  children?: RawNode[];
  value?: unknown;
  [member: string]: unknown;
}

/**
 * Parses a template. Nunjucks reads the syntax; what this function does not know by name does not exist, so a new
 * kind of node in Nunjucks is an error here and never something that runs.
 * @throws TemplateError
 */
export function parseTemplate(source: string): Statement[] {
  try {
    return statements(parse(source) as RawNode);
  } catch (error) {
    throw asTemplateError(error, source);
  }
}

function asTemplateError(error: unknown, source: string): TemplateError {
  if (error instanceof TemplateError) return error;
  if (error instanceof RangeError) return new TemplateError('The template is nested too deeply.', undefined);
  const { message, lineno, colno } = error as { message?: string; lineno?: number; colno?: number };
  if (typeof lineno === 'number' && lineno > 0) {
    const text = String(message).replace(/^\(unknown path\)[^\n]*\n\s*/, '');
    return new TemplateError(sentence(text), { line: lineno, column: Math.max(colno ?? 1, 1) });
  }
  // The parser runs into the end of the text in several places without a word of its own.
  const isOwnWord = error instanceof Error && !(error instanceof TypeError);
  const text = isOwnWord ? sentence(String(message)) : 'Unexpected end of the template.';
  return new TemplateError(text, endOf(source));
}

const sentence = (text: string): string => {
  const plain = text.replace(/^parse\w+: |^advance\w+: /, '').trim();
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}${/[.!?]$/.test(plain) ? '' : '.'}`;
};

function endOf(source: string): Position {
  const lines = source.split('\n');
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

const positionOf = (node: RawNode): Position => ({
  line: (node.lineno ?? 0) + 1,
  column: (node.colno ?? 0) + 1,
});

const node = (parent: RawNode, member: string): RawNode => parent[member] as RawNode;

const body = (raw: unknown): Statement[] => (raw ? statements(raw as RawNode) : []);

/** The statements below a node; a single statement may stand where a list is expected (`elif`). */
function statements(raw: RawNode): Statement[] {
  if (raw.typename === 'NodeList' || raw.typename === 'Root') return (raw.children ?? []).flatMap(statements);
  if (raw.typename === 'Output') return (raw.children ?? []).map(outputOf);
  return [statement(raw)];
}

function outputOf(raw: RawNode): Statement {
  const at = positionOf(raw);
  if (raw.typename === 'TemplateData') return { kind: 'text', at, text: String(raw.value) };
  return { kind: 'output', at, value: expression(raw) };
}

function statement(raw: RawNode): Statement {
  const at = positionOf(raw);
  switch (raw.typename) {
    case 'If':
      return {
        kind: 'if',
        at,
        condition: expression(node(raw, 'cond')),
        body: body(raw['body']),
        otherwise: body(raw['else_']),
      };
    case 'For':
      return {
        kind: 'for',
        at,
        names: loopNames(node(raw, 'name')),
        over: expression(node(raw, 'arr')),
        body: body(raw['body']),
        otherwise: body(raw['else_']),
      };
    case 'Set': {
      const targets = raw['targets'] as RawNode[];
      const value = raw['value'] ? expression(node(raw, 'value')) : expression(node(raw, 'body'));
      return { kind: 'set', at, names: targets.map(nameOf), value };
    }
    case 'Macro':
      return {
        kind: 'macro',
        at,
        name: nameOf(node(raw, 'name')),
        parameters: parametersOf(node(raw, 'args')),
        body: body(raw['body']),
      };
    case 'Block':
      return { kind: 'block', at, name: nameOf(node(raw, 'name')), body: body(raw['body']) };
    case 'Extends':
      return { kind: 'extends', at, template: expression(node(raw, 'template')) };
    case 'Include':
      return {
        kind: 'include',
        at,
        template: expression(node(raw, 'template')),
        ignoreMissing: raw['ignoreMissing'] === true,
      };
    case 'Import':
      return {
        kind: 'import',
        at,
        template: expression(node(raw, 'template')),
        alias: nameOf(node(raw, 'target')),
        withContext: raw['withContext'] === true,
      };
    case 'FromImport':
      return {
        kind: 'from',
        at,
        template: expression(node(raw, 'template')),
        names: (node(raw, 'names').children ?? []).map(importedName),
        withContext: raw['withContext'] === true,
      };
    case 'Switch':
      return {
        kind: 'switch',
        at,
        on: expression(node(raw, 'expr')),
        cases: (raw['cases'] as RawNode[]).map((one) => ({
          value: expression(node(one, 'cond')),
          body: body(one['body']),
        })),
        otherwise: body(raw['default']),
      };
    default:
      throw new TemplateError(`The tag ${raw.typename} is not part of the template language.`, at);
  }
}

const binaryOperators: Record<string, BinaryOperator> = {
  Add: '+',
  Sub: '-',
  Mul: '*',
  Div: '/',
  FloorDiv: '//',
  Mod: '%',
  Pow: '**',
  Concat: '~',
};

const logical = { And: 'and', Or: 'or', In: 'in' } as const;
const unary = { Not: 'not', Neg: 'negative', Pos: 'positive' } as const;

function expression(raw: RawNode): Expression {
  const at = positionOf(raw);
  const type = raw.typename;
  if (type in binaryOperators) return { kind: 'binary', at, operator: binaryOperators[type]!, ...sides(raw) };
  if (type in logical) return { kind: logical[type as keyof typeof logical], at, ...sides(raw) };
  if (type in unary)
    return { kind: unary[type as keyof typeof unary], at, of: expression(node(raw, 'target')) };
  switch (type) {
    case 'Literal':
      return { kind: 'literal', at, value: literal(raw, at) };
    case 'Symbol':
      return { kind: 'name', at, name: nameOf(raw) };
    case 'Group':
      return group(raw, at);
    case 'Array':
      return { kind: 'array', at, items: (raw.children ?? []).map(expression) };
    case 'Dict':
      return { kind: 'dict', at, entries: (raw.children ?? []).map(dictEntry) };
    case 'LookupVal':
      if (!raw['val']) throw new TemplateError('An index is missing between the brackets.', at);
      return {
        kind: 'member',
        at,
        target: expression(node(raw, 'target')),
        key: expression(node(raw, 'val')),
      };
    case 'FunCall':
      return {
        kind: 'call',
        at,
        target: expression(node(raw, 'name')),
        arguments: argumentsOf(node(raw, 'args')),
      };
    case 'Filter': {
      const [input, ...rest] = node(raw, 'args').children ?? [];
      const name = nameOf(node(raw, 'name'));
      if (!Object.hasOwn(filters, name)) throw new TemplateError(`There is no filter "${name}".`, at);
      const filterArguments = argumentsOf({ typename: 'NodeList', children: rest });
      return {
        kind: 'filter',
        at,
        name,
        input: expression(input!),
        arguments: filterArguments,
      };
    }
    case 'Is':
      return testOf(raw, at);
    case 'Compare':
      return {
        kind: 'compare',
        at,
        first: expression(node(raw, 'expr')),
        rest: (raw['ops'] as RawNode[]).map((one) => ({
          operator: one['type'] as CompareOperator,
          value: expression(node(one, 'expr')),
        })),
      };
    case 'InlineIf':
      return {
        kind: 'conditional',
        at,
        condition: expression(node(raw, 'cond')),
        then: expression(node(raw, 'body')),
        otherwise: raw['else_'] ? expression(node(raw, 'else_')) : undefined,
      };
    case 'Capture':
      return { kind: 'capture', at, body: body(raw['body']) };
    case 'Caller':
      return { kind: 'caller', at, parameters: parametersOf(node(raw, 'args')), body: body(raw['body']) };
    default:
      throw new TemplateError(`${type} is not part of the template language.`, at);
  }
}

const sides = (raw: RawNode) => ({
  left: expression(node(raw, 'left')),
  right: expression(node(raw, 'right')),
});

function literal(raw: RawNode, at: Position): string | number | boolean | null {
  const { value } = raw;
  if (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean'
  ) {
    return value;
  }
  throw new TemplateError('Regular expressions are not part of the template language.', at);
}

function group(raw: RawNode, at: Position): Expression {
  const last = raw.children?.at(-1);
  if (!last) throw new TemplateError('There is nothing between the parentheses.', at);
  return expression(last);
}

function dictEntry(raw: RawNode): { key: Expression; value: Expression } {
  const key = node(raw, 'key');
  const isName = key.typename === 'Symbol';
  return {
    key: isName ? { kind: 'literal', at: positionOf(key), value: nameOf(key) } : expression(key),
    value: expression(node(raw, 'value')),
  };
}

function testOf(raw: RawNode, at: Position): Expression {
  const right = node(raw, 'right');
  const isCall = right.typename === 'FunCall';
  const named = isCall ? node(right, 'name') : right;
  const name = named.typename === 'Literal' && named.value === null ? 'null' : nameOf(named);
  if (!Object.hasOwn(tests, name)) throw new TemplateError(`There is no test "${name}".`, at);
  const testArguments = isCall ? argumentsOf(node(right, 'args')) : { positional: [], named: [] };
  return { kind: 'test', at, name, input: expression(node(raw, 'left')), arguments: testArguments };
}

function argumentsOf(raw: RawNode | null | undefined): Arguments {
  const children = raw?.children ?? [];
  const isNamed = (child: RawNode) => child.typename === 'KeywordArgs';
  return {
    positional: children.filter((child) => !isNamed(child)).map(expression),
    named: children.filter(isNamed).flatMap(({ children: pairs }) =>
      (pairs ?? []).map((pair) => ({
        name: nameOf(node(pair, 'key')),
        value: expression(node(pair, 'value')),
      })),
    ),
  };
}

function parametersOf(raw: RawNode): Parameter[] {
  return (raw.children ?? []).flatMap((child): Parameter[] =>
    child.typename === 'KeywordArgs'
      ? (child.children ?? []).map((pair) => ({
          name: nameOf(node(pair, 'key')),
          byDefault: expression(node(pair, 'value')),
        }))
      : [{ name: nameOf(child), byDefault: undefined }],
  );
}

const loopNames = (raw: RawNode): string[] =>
  raw.typename === 'Array' ? (raw.children ?? []).map(nameOf) : [nameOf(raw)];

const importedName = (raw: RawNode): { name: string; alias: string } =>
  raw.typename === 'Pair'
    ? { name: nameOf(node(raw, 'key')), alias: nameOf(node(raw, 'value')) }
    : { name: nameOf(raw), alias: nameOf(raw) };

function nameOf(raw: RawNode | undefined): string {
  if (raw?.typename === 'Symbol') return String(raw.value);
  throw new TemplateError('A name is expected here.', raw && positionOf(raw));
}
