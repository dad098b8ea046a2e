import type { z } from 'zod';
import type { Endpoint } from '../endpoint';
import { exampleOf } from './examples';
import { listParameters, parameter } from './list-parameters';
import type { Json, JsonSchema, SchemaCollection } from './schemas';

/** The parameters of an endpoint in its path, its query and its headers. */
export function parametersOf(endpoint: Endpoint, schemas: SchemaCollection): Json[] {
  const { method, path, access } = endpoint;
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const inPath = names.map((name) => {
    const shape = endpoint.params?.shape[name] as z.ZodType | undefined;
    const schema = shape ? withoutEmpty(schemas.of(shape)) : { type: 'string', minLength: 1 };
    return { ...parameter('path', name, schema, true), example: exampleOf(schema, schemas, name) };
  });
  const shared = [
    endpoint.ifMatch && 'IfMatch',
    endpoint.ifNoneMatch && 'IfNothingMatches',
    method === 'GET' && endpoint.etag && 'IfNoneMatch',
    endpoint.ranges && 'Range',
    endpoint.ranges && 'IfRange',
    access.type !== 'anonymous' && 'TenantId',
    method !== 'GET' && !endpoint.upload && 'IdempotencyKey',
  ].filter((name) => typeof name === 'string');
  return [
    ...inPath,
    ...queryParameters(endpoint, schemas),
    ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

/** A segment of a path cannot be empty. */
const withoutEmpty = (schema: JsonSchema): JsonSchema =>
  schema['type'] === 'string' && schema['minLength'] === undefined && !schema['enum']
    ? { ...schema, minLength: 1 }
    : schema;

function queryParameters({ query, list }: Endpoint, schemas: SchemaCollection): Json[] {
  const own = Object.entries(query?.shape ?? {}).map(([name, shape]) => {
    const type = shape as z.ZodType;
    return parameter('query', name, schemas.of(type), !type.safeParse(undefined).success);
  });
  const named = new Set(own.map(({ name }) => name));
  return [...own, ...(list ? listParameters(list) : []).filter(({ name }) => !named.has(name))];
}
