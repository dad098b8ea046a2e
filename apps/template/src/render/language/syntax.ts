/** Where something stands in a template; both count from 1. */
export interface Position {
  line: number;
  column: number;
}

export interface Parameter {
  name: string;
  byDefault: Expression | undefined;
}

export interface Arguments {
  positional: Expression[];
  named: { name: string; value: Expression }[];
}

export type BinaryOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**' | '~';
export type CompareOperator = '==' | '===' | '!=' | '!==' | '<' | '>' | '<=' | '>=';

/** Everything an expression can be. The evaluator knows these and nothing else. */
export type Expression = { at: Position } & (
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'name'; name: string }
  | { kind: 'array'; items: Expression[] }
  | { kind: 'dict'; entries: { key: Expression; value: Expression }[] }
  | { kind: 'member'; target: Expression; key: Expression }
  | { kind: 'call'; target: Expression; arguments: Arguments }
  | { kind: 'filter'; name: string; input: Expression; arguments: Arguments }
  | { kind: 'test'; name: string; input: Expression; arguments: Arguments }
  | { kind: 'binary'; operator: BinaryOperator; left: Expression; right: Expression }
  | { kind: 'compare'; operator: CompareOperator; left: Expression; right: Expression }
  | { kind: 'and' | 'or' | 'in'; left: Expression; right: Expression }
  | { kind: 'not' | 'negative' | 'positive'; of: Expression }
  | { kind: 'conditional'; condition: Expression; then: Expression; otherwise: Expression | undefined }
  | { kind: 'capture'; body: Statement[] }
  | { kind: 'caller'; parameters: Parameter[]; body: Statement[] }
);

export type Statement = { at: Position } & (
  | { kind: 'text'; text: string }
  | { kind: 'output'; value: Expression }
  | { kind: 'if'; condition: Expression; body: Statement[]; otherwise: Statement[] }
  | { kind: 'for'; names: string[]; over: Expression; body: Statement[]; otherwise: Statement[] }
  | { kind: 'set'; names: string[]; value: Expression }
  | { kind: 'macro'; name: string; parameters: Parameter[]; body: Statement[] }
  | { kind: 'block'; name: string; body: Statement[] }
  | { kind: 'extends'; template: Expression }
  | { kind: 'include'; template: Expression; ignoreMissing: boolean }
  | { kind: 'import'; template: Expression; alias: string; withContext: boolean }
  | { kind: 'from'; template: Expression; names: { name: string; alias: string }[]; withContext: boolean }
  | {
      kind: 'switch';
      on: Expression;
      cases: { value: Expression; body: Statement[] }[];
      otherwise: Statement[];
    }
);

/** A template is wrong as written, or cannot do what it says with this data. */
export class TemplateError extends Error {
  constructor(
    message: string,
    readonly at: Position | undefined,
    /** The template it is in: empty for the one that is rendered, undefined while it is not known. */
    readonly template?: string,
  ) {
    super(message);
  }
}

/** Calls `visit` for every statement and expression below, parents first. */
export function walk(
  statements: readonly Statement[],
  visit: { statement?: (statement: Statement) => void; expression?: (expression: Expression) => void },
): void {
  const args = ({ positional, named }: Arguments): Expression[] => [
    ...positional,
    ...named.map(({ value }) => value),
  ];
  const defaults = (parameters: Parameter[]): Expression[] =>
    parameters.flatMap(({ byDefault }) => (byDefault ? [byDefault] : []));

  const intoExpression = (expression: Expression): void => {
    visit.expression?.(expression);
    for (const child of childrenOf(expression)) intoExpression(child);
    if (expression.kind === 'capture' || expression.kind === 'caller') expression.body.forEach(intoStatement);
  };
  const childrenOf = (expression: Expression): Expression[] => {
    switch (expression.kind) {
      case 'literal':
      case 'name':
      case 'capture':
        return [];
      case 'caller':
        return defaults(expression.parameters);
      case 'array':
        return expression.items;
      case 'dict':
        return expression.entries.flatMap(({ key, value }) => [key, value]);
      case 'member':
        return [expression.target, expression.key];
      case 'call':
        return [expression.target, ...args(expression.arguments)];
      case 'filter':
      case 'test':
        return [expression.input, ...args(expression.arguments)];
      case 'not':
      case 'negative':
      case 'positive':
        return [expression.of];
      case 'conditional':
        return [
          expression.condition,
          expression.then,
          ...(expression.otherwise ? [expression.otherwise] : []),
        ];
      default:
        return [expression.left, expression.right];
    }
  };
  const intoStatement = (statement: Statement): void => {
    visit.statement?.(statement);
    switch (statement.kind) {
      case 'text':
        return;
      case 'output':
      case 'set':
        return intoExpression(statement.value);
      case 'if':
        intoExpression(statement.condition);
        return [...statement.body, ...statement.otherwise].forEach(intoStatement);
      case 'for':
        intoExpression(statement.over);
        return [...statement.body, ...statement.otherwise].forEach(intoStatement);
      case 'macro':
        defaults(statement.parameters).forEach(intoExpression);
        return statement.body.forEach(intoStatement);
      case 'block':
        return statement.body.forEach(intoStatement);
      case 'switch':
        intoExpression(statement.on);
        for (const { value, body } of statement.cases) {
          intoExpression(value);
          body.forEach(intoStatement);
        }
        return statement.otherwise.forEach(intoStatement);
      default:
        return intoExpression(statement.template);
    }
  };
  statements.forEach(intoStatement);
}

/** `customer.name` for an expression that is a path. */
export function pathOf(expression: Expression): string | undefined {
  if (expression.kind === 'name') return expression.name;
  if (expression.kind !== 'member') return undefined;
  const target = pathOf(expression.target);
  if (target === undefined) return undefined;
  const { key } = expression;
  if (key.kind !== 'literal') return `${target}[]`;
  return typeof key.value === 'string' ? `${target}.${key.value}` : `${target}[]`;
}
