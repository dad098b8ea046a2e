import { breaksOfShape, type Direction, type Lookup, type Schema } from './compare-schema';

export interface ApiDocument {
  info: { version: string };
  security?: Security;
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema>; parameters?: Record<string, Parameter> };
}
interface Operation {
  deprecated?: boolean;
  security?: Security;
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}
/** Alternatives of which one must be met; each lists the permissions that it requires. */
type Security = Record<string, string[]>[];
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema?: Schema;
}
type Content = Record<string, { schema?: Schema }>;

/**
 * How a changed document breaks clients of the old one. A new major version may break everything; an operation that
 * was announced as deprecated may go.
 */
export function breaksOfApi(before: ApiDocument, after: ApiDocument): string[] {
  if (majorOf(after) > majorOf(before)) return [];
  return Object.entries(before.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => method !== 'parameters')
      .flatMap(([method, operation]) => {
        const place = `${method.toUpperCase()} ${path}`;
        const same = after.paths[path]?.[method];
        if (!same) return operation.deprecated ? [] : [`${place} is gone`];
        return breaksOfOperation({ before, after, was: operation, is: same, place });
      }),
  );
}

const majorOf = ({ info }: ApiDocument) => Number(info.version.split('.')[0]);

interface Pair {
  before: ApiDocument;
  after: ApiDocument;
  was: Operation;
  is: Operation;
  place: string;
}

function breaksOfOperation(pair: Pair): string[] {
  const { was, is, place } = pair;
  const statuses = Object.keys(was.responses).filter((status) => status.startsWith('2'));
  return [
    ...breaksOfSecurity(pair),
    ...breaksOfParameters(pair),
    ...(!was.requestBody?.required && is.requestBody?.required ? [`${place} now needs a body`] : []),
    ...breaksOfContent(pair, was.requestBody?.content, is.requestBody?.content, 'in', `${place} body`),
    ...statuses.flatMap((status) => {
      const same = is.responses[status];
      if (!same) return [`${place} no longer responds with ${status}`];
      return breaksOfContent(pair, was.responses[status]?.content, same.content, 'out', `${place} ${status}`);
    }),
  ];
}

function breaksOfSecurity({ before, after, was, is, place }: Pair): string[] {
  const old = waysIn(was.security ?? before.security);
  const now = waysIn(is.security ?? after.security);
  const stillIn = (had: string[]) => now.some((needed) => needed.every((one) => had.includes(one)));
  if (old.every(stillIn)) return [];
  return [`${place} now needs ${now.map((needed) => needed.join(' and ')).join(', or ')}`];
}

/** What a caller must have, for each alternative; nothing for a public operation. */
const waysIn = (security: Security = []): string[][] =>
  security.length === 0
    ? [[]]
    : security.map((way) => Object.entries(way).flatMap(([scheme, permissions]) => [scheme, ...permissions]));

function breaksOfParameters({ before, after, was, is, place }: Pair): string[] {
  const old = (was.parameters ?? []).map((one) => parameterOf(one, before));
  const now = (is.parameters ?? []).map((one) => parameterOf(one, after));
  const named = (list: Parameter[], wanted: Parameter) =>
    list.find((one) => one.name === wanted.name && one.in === wanted.in);
  return [
    ...old.flatMap((one) => {
      const where = `${place} ${one.in} ${one.name}`;
      const same = named(now, one);
      if (!same) return [`${where} is gone`];
      return [
        ...(!one.required && same.required ? [`${where} is now required`] : []),
        ...breaksOfShape(
          { schema: one.schema ?? {}, lookup: lookupIn(before) },
          { schema: same.schema ?? {}, lookup: lookupIn(after) },
          'in',
          where,
        ),
      ];
    }),
    ...now
      .filter((one) => one.required && !named(old, one))
      .map((one) => `${place} ${one.in} ${one.name} is new and required`),
  ];
}

const parameterOf = (one: Parameter | { $ref: string }, { components }: ApiDocument): Parameter =>
  '$ref' in one ? components!.parameters![one.$ref.split('/').at(-1)!]! : one;

function breaksOfContent(
  { before, after }: Pair,
  was: Content | undefined,
  is: Content | undefined,
  direction: Direction,
  place: string,
): string[] {
  return Object.entries(was ?? {}).flatMap(([type, { schema }]) => {
    const same = is?.[type];
    if (!same) return [`${place} is no longer ${type}`];
    if (!schema || !same.schema) return [];
    const [old, now] = [lookupIn(before), lookupIn(after)];
    return breaksOfShape({ schema, lookup: old }, { schema: same.schema, lookup: now }, direction, place);
  });
}

const lookupIn =
  ({ components }: ApiDocument): Lookup =>
  (reference) =>
    components?.schemas?.[reference.split('/').at(-1)!];
