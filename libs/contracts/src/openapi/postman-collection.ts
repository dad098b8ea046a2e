import type { Json } from './schemas';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema?: Json;
  $ref?: string;
}

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Json[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { example?: unknown; schema?: Json }> };
}

interface Document {
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { parameters: Record<string, Parameter> };
}

/**
 * The operations of an OpenAPI document as a collection for Postman (format 2.1): a folder for each tag, and the variables
 * `baseUrl` and `token`.
 */
export function postmanCollection(document: object): Json {
  const { info, paths, components } = document as Document;
  const items = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      tag: operation.tags[0]!,
      item: itemOf(method.toUpperCase(), path, operation, components.parameters),
    })),
  );
  const tags = [...new Set(items.map(({ tag }) => tag))];
  return {
    info: {
      name: `${info.title} ${info.version}`,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: 'http://localhost:8080' },
      { key: 'token', value: '' },
    ],
    item: tags.map((name) => ({
      name,
      item: items.filter(({ tag }) => tag === name).map(({ item }) => item),
    })),
  };
}

function itemOf(method: string, path: string, operation: Operation, shared: Record<string, Parameter>): Json {
  const parameters = (operation.parameters ?? []).map((one) =>
    one.$ref === undefined ? one : shared[one.$ref.split('/').at(-1)!]!,
  );
  const in_ = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place);
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const postmanPath = path.replace(/\{(\w+)\}/g, ':$1');
  return {
    name: operation.summary,
    request: {
      method,
      description: operation.description,
      ...(operation.security?.length === 0 ? { auth: { type: 'noauth' } } : {}),
      header: [
        ...(type !== undefined && type !== 'multipart/form-data'
          ? [{ key: 'Content-Type', value: type }]
          : []),
        ...in_('header').map(({ name, description }) => ({
          key: name,
          value: '',
          description,
          disabled: true,
        })),
      ],
      url: {
        raw: `{{baseUrl}}${postmanPath}`,
        host: ['{{baseUrl}}'],
        path: postmanPath.slice(1).split('/'),
        variable: in_('path').map(({ name, description, schema }) => ({
          key: name,
          value: textOf(schema),
          description,
        })),
        query: in_('query').map(({ name, description, schema, required }) => ({
          key: name,
          value: textOf(schema),
          description,
          disabled: !required,
        })),
      },
      ...(type === undefined ? {} : { body: bodyOf(type, media!) }),
    },
    response: [],
  };
}

function bodyOf(type: string, { example, schema }: { example?: unknown; schema?: Json }): Json {
  if (type === 'multipart/form-data')
    return {
      mode: 'formdata',
      formdata: Object.keys((schema?.['properties'] ?? {}) as object).map((key) =>
        key === 'file' ? { key, type: 'file', src: [] } : { key, type: 'text', value: '' },
      ),
    };
  if (example === undefined) return { mode: 'file', file: {} };
  return {
    mode: 'raw',
    raw: JSON.stringify(example, null, 2),
    options: { raw: { language: 'json' } },
  };
}

/** What a parameter can be sent with, where its schema says so. */
function textOf(schema: Json = {}): string {
  const { examples, default: byDefault, enum: values } = schema;
  const value =
    (examples as unknown[] | undefined)?.[0] ?? byDefault ?? (values as unknown[] | undefined)?.[0];
  return value === undefined ? '' : String(value);
}
