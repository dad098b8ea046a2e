import { walk, type Arguments, type Expression, type Parameter, type Statement } from './syntax';

export type VariableType = 'string' | 'number' | 'boolean' | 'date' | 'array' | 'object';

export interface Variable {
  name: string;
  type: VariableType;
}

/** What the use of one variable tells about it. */
interface Shape {
  hints: Set<VariableType>;
  members: Map<string, Shape>;
  items: Shape | undefined;
}

const newShape = (): Shape => ({ hints: new Set(), members: new Map(), items: undefined });

const numberFilters = new Set(['abs', 'currency', 'number', 'percent', 'round', 'int', 'float', 'sum']);
const dateFilters = new Set(['date', 'time', 'datetime']);
const textFilters = new Set([
  'capitalize',
  'center',
  'escape',
  'e',
  'forceescape',
  'indent',
  'lower',
  'nl2br',
  'replace',
  'safe',
  'string',
  'striptags',
  'title',
  'trim',
  'truncate',
  'upper',
  'urlencode',
  'urlize',
  'wordcount',
]);
const listFilters = new Set([
  'batch',
  'join',
  'last',
  'first',
  'length',
  'list',
  'reject',
  'rejectattr',
  'select',
  'selectattr',
  'slice',
  'sort',
  'sum',
  'groupby',
  'random',
  'reverse',
]);
const hintOfTest: Record<string, VariableType> = {
  number: 'number',
  even: 'number',
  odd: 'number',
  divisibleby: 'number',
  string: 'string',
  lower: 'string',
  upper: 'string',
  mapping: 'object',
  object: 'object',
  iterable: 'array',
};

/** A name that a template gives itself, and the variable behind it, where there is one. */
type Names = ReadonlyMap<string, Shape | undefined>;

interface Macro {
  parameters: Parameter[];
  body: Statement[];
}

/** Reads from parsed templates which variables they need and of what type these seem to be. */
export function variablesOf(
  statements: readonly Statement[],
  template: (name: string) => Statement[] | undefined,
): { model: Variable[]; settings: string[] } {
  const reader = new Reader(template);
  reader.read(statements, new Map());
  const settings = reader.root.members.get('settings');
  const own = ['t', 'range', 'cycler', 'joiner', 'settings', 'now', 'culture', 'loop', 'super', 'caller'];
  for (const name of own) reader.root.members.delete(name);
  removeGlobals(reader.root);
  return {
    model: leavesOf(reader.root).sort((left, right) => (left.name < right.name ? -1 : 1)),
    settings: settings ? leavesOf(settings).map(({ name }) => name) : [],
  };
}

/** `tenant` and `user` are the platform's; other members of theirs are the caller's own. */
function removeGlobals(root: Shape): void {
  for (const name of ['tenant', 'user']) {
    const shape = root.members.get(name);
    shape?.members.delete('id');
    shape?.members.delete('name');
    if (shape && shape.members.size === 0 && !shape.items) root.members.delete(name);
  }
}

function leavesOf(shape: Shape, path = ''): Variable[] {
  const members = [...shape.members].flatMap(([name, member]) =>
    leavesOf(member, path ? `${path}.${name}` : name),
  );
  const items = shape.items && shape.items.members.size > 0 ? leavesOf(shape.items, `${path}[]`) : [];
  if (members.length > 0 || items.length > 0) return [...members, ...items];
  return path ? [{ name: path, type: typeOf(shape) }] : [];
}

function typeOf(shape: Shape): VariableType {
  if (shape.items) return 'array';
  const order: VariableType[] = ['array', 'date', 'number', 'object', 'string', 'boolean'];
  return order.find((type) => shape.hints.has(type)) ?? 'string';
}

class Reader {
  readonly root = newShape();
  private readonly macros = new Map<string, Macro>();
  private readonly active = new Set<unknown>();

  constructor(private readonly template: (name: string) => Statement[] | undefined) {}

  read(statements: readonly Statement[], names: Map<string, Shape | undefined>): void {
    for (const statement of statements) this.statement(statement, names);
  }

  private statement(statement: Statement, names: Map<string, Shape | undefined>): void {
    switch (statement.kind) {
      case 'text':
        return;
      case 'output':
        return this.use(statement.value, names, 'string');
      case 'if':
        this.use(statement.condition, names, 'boolean');
        this.read(statement.body, names);
        return this.read(statement.otherwise, names);
      case 'for':
        return this.loop(statement, names);
      case 'set': {
        const shape = this.shapeOf(statement.value, names);
        if (!shape) this.use(statement.value, names, undefined);
        for (const name of statement.names) names.set(name, shape);
        return;
      }
      case 'macro':
        this.macros.set(statement.name, statement);
        names.set(statement.name, undefined);
        return this.unknownCall(statement, names);
      case 'block':
        return this.read(statement.body, new Map(names));
      case 'switch':
        this.use(statement.on, names, 'string');
        for (const { value, body } of statement.cases) {
          this.use(value, names, undefined);
          this.read(body, names);
        }
        return this.read(statement.otherwise, names);
      case 'extends':
      case 'include':
        this.use(statement.template, names, 'string');
        return this.other(statement.template, names);
      case 'import':
        names.set(statement.alias, undefined);
        return this.importMacros(
          statement.template,
          statement.withContext ? names : new Map(),
          (name) => `${statement.alias}.${name}`,
        );
      case 'from':
        for (const { alias } of statement.names) names.set(alias, undefined);
        return this.importMacros(
          statement.template,
          statement.withContext ? names : new Map(),
          (name) => statement.names.find((one) => one.name === name)?.alias,
        );
    }
  }

  private loop(statement: Extract<Statement, { kind: 'for' }>, names: Map<string, Shape | undefined>): void {
    const inner = new Map(names).set('loop', undefined);
    const list = this.shapeOf(statement.over, names);
    const [first, second] = statement.names;
    if (list && second === undefined) {
      list.items ??= newShape();
      inner.set(first!, list.items);
    } else {
      if (list) list.hints.add('object');
      else this.use(statement.over, names, undefined);
      for (const name of statement.names) inner.set(name, undefined);
    }
    this.read(statement.body, inner);
    this.read(statement.otherwise, names);
  }

  /** Each template is read once from each place that is on the way to it; circles end. */
  private other(expression: Expression, names: Map<string, Shape | undefined>): void {
    const source = this.sourceOf(expression);
    if (!source || this.active.has(source)) return;
    this.active.add(source);
    this.read(source, new Map(names));
    this.active.delete(source);
  }

  private importMacros(
    expression: Expression,
    names: Map<string, Shape | undefined>,
    rename: (name: string) => string | undefined,
  ): void {
    const source = this.sourceOf(expression);
    if (!source) return;
    this.other(expression, names);
    for (const statement of source) {
      const name = statement.kind === 'macro' ? rename(statement.name) : undefined;
      if (statement.kind === 'macro' && name !== undefined) this.macros.set(name, statement);
    }
  }

  private sourceOf(expression: Expression): Statement[] | undefined {
    return expression.kind === 'literal' ? this.template(String(expression.value)) : undefined;
  }

  /** What a macro reads besides its parameters. */
  private unknownCall({ parameters, body }: Macro, names: Names): void {
    const inner = new Map(names).set('caller', undefined);
    for (const { name, byDefault } of parameters) {
      if (byDefault) this.use(byDefault, inner, undefined);
      inner.set(name, undefined);
    }
    this.read(body, inner);
  }

  private macroCall(macro: Macro, args: Arguments, names: Names): void {
    if (this.active.has(macro)) return;
    this.active.add(macro);
    const inner = new Map(names).set('caller', undefined);
    macro.parameters.forEach(({ name }, index) => {
      const given = args.positional[index] ?? args.named.find((one) => one.name === name)?.value;
      inner.set(name, given && this.shapeOf(given, names));
    });
    this.read(macro.body, inner);
    this.active.delete(macro);
  }

  /** Notes that an expression is used, as what. */
  private use(expression: Expression, names: Names, as: VariableType | undefined): void {
    const shape = this.shapeOf(expression, names);
    if (shape) {
      if (as) shape.hints.add(as);
      return;
    }
    switch (expression.kind) {
      case 'filter':
        return this.useFilter(expression, names, as);
      case 'test':
        this.use(expression.input, names, hintOfTest[expression.name]);
        return this.useArguments(expression.arguments, names);
      case 'binary': {
        const hint =
          expression.operator === '~'
            ? 'string'
            : expression.operator === '+'
              ? this.sumHint(expression)
              : 'number';
        this.use(expression.left, names, hint);
        return this.use(expression.right, names, hint);
      }
      case 'compare': {
        const all = [expression.left, expression.right];
        const literal = all.find(({ kind }) => kind === 'literal');
        const type = literal?.kind === 'literal' ? typeof literal.value : undefined;
        const hint = type === 'number' || type === 'string' || type === 'boolean' ? type : undefined;
        return all.forEach((one) => this.use(one, names, hint));
      }
      case 'negative':
      case 'positive':
        return this.use(expression.of, names, 'number');
      case 'not':
        return this.use(expression.of, names, 'boolean');
      case 'and':
      case 'or':
        this.use(expression.left, names, as ?? 'boolean');
        return this.use(expression.right, names, as);
      case 'conditional':
        this.use(expression.condition, names, 'boolean');
        this.use(expression.then, names, as);
        return expression.otherwise && this.use(expression.otherwise, names, as);
      case 'in':
        this.use(expression.left, names, 'string');
        return this.use(expression.right, names, 'array');
      case 'call':
        return this.useCall(expression, names);
      case 'member':
        this.use(expression.target, names, undefined);
        return this.use(expression.key, names, undefined);
      case 'array':
        return expression.items.forEach((item) => this.use(item, names, undefined));
      case 'dict':
        return expression.entries.forEach(({ value }) => this.use(value, names, undefined));
      case 'capture':
        return this.read(expression.body, new Map(names));
      case 'caller':
        return this.unknownCall(expression, names);
      default:
        return;
    }
  }

  private sumHint({ left, right }: { left: Expression; right: Expression }): VariableType {
    let isText = false;
    walk(
      [
        { kind: 'output', at: left.at, value: left },
        { kind: 'output', at: right.at, value: right },
      ],
      {
        expression: (expression) => {
          isText ||= expression.kind === 'literal' && typeof expression.value === 'string';
        },
      },
    );
    return isText ? 'string' : 'number';
  }

  private useFilter(
    expression: Extract<Expression, { kind: 'filter' }>,
    names: Names,
    as: VariableType | undefined,
  ): void {
    const { name, input } = expression;
    this.useArguments(expression.arguments, names);
    if (listFilters.has(name)) {
      const list = this.shapeOf(input, names);
      if (!list) return this.use(input, names, undefined);
      list.hints.add('array');
      this.attributeOf(expression, list);
      return;
    }
    const hint = numberFilters.has(name)
      ? 'number'
      : dateFilters.has(name)
        ? 'date'
        : textFilters.has(name)
          ? 'string'
          : as;
    this.use(input, names, hint);
  }

  /** `lines | sum("price")` reads `price` of each line. */
  private attributeOf({ name, arguments: args }: Extract<Expression, { kind: 'filter' }>, list: Shape): void {
    const index = name === 'sort' ? 2 : name === 'join' ? 1 : 0;
    const takesAttribute = ['sum', 'sort', 'join', 'groupby', 'selectattr', 'rejectattr'].includes(name);
    const given = args.named.find((one) => one.name === 'attribute')?.value ?? args.positional[index];
    if (!takesAttribute || given?.kind !== 'literal' || typeof given.value !== 'string') return;
    list.items ??= newShape();
    const member = given.value.split('.').reduce(memberOf, list.items);
    if (name === 'sum') member.hints.add('number');
  }

  private useCall(expression: Extract<Expression, { kind: 'call' }>, names: Names): void {
    const { target } = expression;
    const name = target.kind === 'name' ? target.name : pathOfImport(target);
    const macro = name === undefined ? undefined : this.macros.get(name);
    if (macro) this.macroCall(macro, expression.arguments, names);
    else if (target.kind === 'member') this.use(target.target, names, undefined);
    this.useArguments(expression.arguments, names);
  }

  private useArguments({ positional, named }: Arguments, names: Names): void {
    for (const argument of [...positional, ...named.map(({ value }) => value)])
      this.use(argument, names, undefined);
  }

  /** The variable that an expression is a path to; undefined where it is none, or a name of the template's own. */
  private shapeOf(expression: Expression, names: Names): Shape | undefined {
    if (expression.kind === 'name') {
      return names.has(expression.name) ? names.get(expression.name) : memberOf(this.root, expression.name);
    }
    if (expression.kind !== 'member') return undefined;
    const target = this.shapeOf(expression.target, names);
    if (!target) return undefined;
    const { key } = expression;
    if (key.kind === 'literal' && typeof key.value === 'string') {
      if (key.value !== 'length') return memberOf(target, key.value);
      target.hints.add('array');
      return undefined;
    }
    if (key.kind !== 'literal') this.use(key, names, undefined);
    return (target.items ??= newShape());
  }
}

function memberOf(shape: Shape, name: string): Shape {
  const known = shape.members.get(name);
  if (known) return known;
  const made = newShape();
  shape.members.set(name, made);
  return made;
}

const pathOfImport = (expression: Expression): string | undefined =>
  expression.kind === 'member' && expression.target.kind === 'name' && expression.key.kind === 'literal'
    ? `${expression.target.name}.${String(expression.key.value)}`
    : undefined;
