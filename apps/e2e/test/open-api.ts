/** The parts of an OpenAPI document that this suite uses. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

interface Operation {
  operationId: string;
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
}

export interface Call {
  name: string;
  method: string;
  path: string;
  parameters: Parameter[];
  /** The schema of the JSON body, where there is one. */
  body: Schema | undefined;
  isUpload: boolean;
  isPublic: boolean;
}

/** Every operation of a document, ready to be called. */
export function callsOf({ paths }: OpenApi): Call[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => ['get', 'post', 'put', 'patch', 'delete'].includes(method))
      .map(([method, operation]) => {
        const content = operation.requestBody?.content ?? {};
        const isPublic = operation.security?.some((scheme) => Object.keys(scheme).length === 0) ?? false;
        return {
          name: `${method.toUpperCase()} ${path}`,
          method: method.toUpperCase(),
          path,
          parameters: operation.parameters ?? [],
          body: content['application/json']?.schema,
          isUpload: Object.keys(content).some((type) => type !== 'application/json'),
          isPublic: isPublic || operation.security?.length === 0,
        };
      }),
  );
}

const UNKNOWN_ID = '01900000-0000-7000-8000-0000000000ff';

/** A value that fits a schema's type; `text` stands for every text without further rules. */
export function sample(schema: Schema, document: OpenApi, text = 'sample', depth = 0): unknown {
  if (depth > 6) return null;
  const inner = (part: Schema) => sample(part, document, text, depth + 1);
  if (schema.$ref) return inner(document.components.schemas[schema.$ref.split('/').at(-1)!]!);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const union = schema.anyOf ?? schema.oneOf;
  if (union) return inner(union.find(({ type }) => type !== 'null') ?? union[0]!);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(inner));
  const type = [schema.type].flat().find((name) => name !== 'null');
  switch (type) {
    case 'object': {
      const members = Object.entries(schema.properties ?? {}).map(([name, member]) => [name, inner(member)]);
      const more =
        typeof schema.additionalProperties === 'object' ? { more: inner(schema.additionalProperties) } : {};
      return { ...Object.fromEntries(members), ...more };
    }
    case 'array':
      return [inner(schema.items ?? {})];
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    default:
      if (schema.format === 'uuid') return UNKNOWN_ID;
      if (schema.format === 'date-time') return '2026-11-21T12:00:00Z';
      return text;
  }
}

/** The path of a call with its parameters filled in. */
export const fill = (call: Call, document: OpenApi, value?: string): string =>
  call.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = call.parameters.find((candidate) => candidate.in === 'path' && candidate.name === name);
    return value ?? encodeURIComponent(String(sample(parameter?.schema ?? {}, document)));
  });

/** A JSON value over and over, each text or each number in it replaced in turn by another one. */
export function* replacing(value: unknown, replacement: string | number): Generator<unknown> {
  if (typeof value === typeof replacement) yield replacement;
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      for (const changed of replacing(item, replacement)) yield value.with(index, changed);
    }
  } else if (value !== null && typeof value === 'object') {
    for (const [name, member] of Object.entries(value)) {
      for (const changed of replacing(member, replacement)) yield { ...value, [name]: changed };
    }
  }
}

/** The names of the query parameters of a call; of a filter or a preset, those of its members. */
export const queryNamesOf = ({ parameters }: Call): string[] =>
  parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap(({ name, schema }) =>
      schema.properties ? Object.keys(schema.properties).map((member) => `${name}[${member}]`) : [name],
    );
