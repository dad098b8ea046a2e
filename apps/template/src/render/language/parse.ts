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
    case 'IfAsync':
      return {
        kind: 'if',
        at,
        condition: expression(node(raw, 'cond')),
        body: body(raw['body']),
        otherwise: body(raw['else_']),
      };
    case 'For':
    case 'AsyncEach':
    case 'AsyncAll':
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

function expression(raw: RawNode): Expression {
  const at = positionOf(raw);
  const type = raw.typename;
  if (isOperation(raw)) return operation(raw);
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
    case 'In':
      return { kind: 'in', at, ...sides(raw) };
    case 'Pow':
      return { kind: 'binary', at, operator: '**', ...sides(raw) };
    case 'FloorDiv':
      return floorDivision(raw, at);
    case 'Neg':
    case 'Pos': {
      const of = expression(node(raw, 'target'));
      return { kind: type === 'Neg' ? 'negative' : 'positive', at, of };
    }
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

type Operator = BinaryOperator | CompareOperator | 'and' | 'or';

const operators: Record<string, Operator> = {
  Or: 'or',
  And: 'and',
  Add: '+',
  Sub: '-',
  Concat: '~',
  Mul: '*',
  Div: '/',
  Mod: '%',
};

/** How tightly the operators bind, as in JavaScript. */
const ranks: Record<Operator, number> = {
  ...{ or: 1, and: 2, '==': 3, '!=': 3, '===': 3, '!==': 3, '<': 4, '>': 4, '<=': 4, '>=': 4 },
  ...{ '+': 5, '-': 5, '~': 5, '*': 6, '/': 6, '%': 6, '//': 6, '**': 7 },
};

const isOperation = ({ typename }: RawNode): boolean =>
  Object.hasOwn(operators, typename) || typename === 'Compare' || typename === 'Not';

type Token = { operand: Expression } | { operator: Operator; at: Position } | { not: Position };

/**
 * Operators without parentheses between them. Nunjucks writes them down in a row for JavaScript to read, so it is
 * JavaScript that says which ones belong together: `not a == b` is `(not a) == b`, `1 ~ 2 + 3` is `(1 ~ 2) + 3`.
 */
const operation = (raw: RawNode): Expression => grouped(tokensOf(raw));

function tokensOf(raw: RawNode): Token[] {
  const at = positionOf(raw);
  if (!isOperation(raw)) return [{ operand: expression(raw) }];
  if (raw.typename === 'Not') return [{ not: at }, ...tokensOf(node(raw, 'target'))];
  if (raw.typename !== 'Compare') {
    const operator = operators[raw.typename]!;
    return [...tokensOf(node(raw, 'left')), { operator, at }, ...tokensOf(node(raw, 'right'))];
  }
  const rest = (raw['ops'] as RawNode[]).flatMap((one): Token[] => [
    { operator: one['type'] as CompareOperator, at },
    ...tokensOf(node(one, 'expr')),
  ]);
  return [...tokensOf(node(raw, 'expr')), ...rest];
}

function grouped(tokens: Token[]): Expression {
  let next = 0;
  const operand = (): Expression => {
    const token = tokens[next++]!;
    if ('not' in token) return { kind: 'not', at: token.not, of: operand() };
    if ('operand' in token) return token.operand;
    throw new TemplateError('A value is expected before this operator.', token.at);
  };
  const from = (rank: number): Expression => {
    let left = operand();
    for (;;) {
      const token = tokens[next];
      if (!token || !('operator' in token) || ranks[token.operator] < rank) return left;
      next++;
      left = combined(token.operator, token.at, left, from(ranks[token.operator] + 1));
    }
  };
  return from(0);
}

function combined(operator: Operator, at: Position, left: Expression, right: Expression): Expression {
  if (operator === 'and' || operator === 'or') return { kind: operator, at, left, right };
  return ranks[operator] === ranks['=='] || ranks[operator] === ranks['<']
    ? { kind: 'compare', at, operator: operator as CompareOperator, left, right }
    : { kind: 'binary', at, operator: operator as BinaryOperator, left, right };
}

/** `a // b` is the whole number below `a / b`; what stands around the division may belong to it. */
function floorDivision(raw: RawNode, at: Position): Expression {
  const left = grouped([
    ...tokensOf(node(raw, 'left')),
    { operator: '/', at },
    ...tokensOf(node(raw, 'right')),
  ]);
  return { kind: 'binary', at, operator: '//', left, right: { kind: 'literal', at, value: 1 } };
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
