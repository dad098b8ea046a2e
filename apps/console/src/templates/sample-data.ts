/** What a template reads, as a tree: groups, lists and single values. */
export type Shape =
  | { kind: 'group'; members: Map<string, Shape> }
  | { kind: 'list'; item: Shape }
  | { kind: 'value'; type: string };

export type Data = Record<string, unknown>;

interface Variable {
  name: string;
  type: string;
  example?: string | undefined;
}

/** The tree of dotted names: `lines[].price` is a member of the items of a list. */
export function shapeOf(variables: readonly Variable[]): Shape & { kind: 'group' } {
  const root: Shape & { kind: 'group' } = { kind: 'group', members: new Map() };
  for (const { name, type } of variables) {
    let group = root;
    const steps = name.split('.');
    steps.forEach((step, index) => {
      const isLast = index === steps.length - 1;
      const depth = step.match(/(?:\[\])*$/)![0].length / 2;
      const member = step.slice(0, step.length - depth * 2);
      let shape = group.members.get(member) ?? emptyShape(depth, isLast, type);
      group.members.set(member, shape);
      while (shape.kind === 'list') shape = shape.item;
      if (shape.kind === 'group') group = shape;
    });
  }
  return root;
}

function emptyShape(depth: number, isLast: boolean, type: string): Shape {
  if (depth > 0) return { kind: 'list', item: emptyShape(depth - 1, isLast, type) };
  if (!isLast) return { kind: 'group', members: new Map() };
  if (type === 'array') return { kind: 'list', item: { kind: 'value', type: 'string' } };
  return { kind: 'value', type };
}

/** Values to look at a template with, where nobody gave any. */
export function sampleOf(shape: Shape, name = ''): unknown {
  switch (shape.kind) {
    case 'group':
      return Object.fromEntries([...shape.members].map(([key, member]) => [key, sampleOf(member, key)]));
    case 'list':
      return [sampleOf(shape.item, name), sampleOf(shape.item, name)];
    case 'value':
      return sampleValue(shape.type, name);
  }
}

function sampleValue(type: string, name: string): unknown {
  if (type === 'number') return 12;
  if (type === 'boolean') return true;
  if (type === 'date') return '2026-11-21';
  if (type === 'object') return {};
  return /currency/i.test(name) ? 'EUR' : name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

/** The same data with what a shape has besides: what somebody wrote stays. */
export function completed(data: unknown, shape: Shape, name = ''): unknown {
  if (data === undefined) return sampleOf(shape, name);
  if (shape.kind === 'list') {
    return Array.isArray(data) ? data.map((item) => completed(item, shape.item, name)) : data;
  }
  if (shape.kind !== 'group' || typeof data !== 'object' || data === null || Array.isArray(data)) return data;
  const members = [...shape.members].map(([key, member]) => [
    key,
    completed((data as Data)[key], member, key),
  ]);
  return { ...data, ...Object.fromEntries(members) };
}
