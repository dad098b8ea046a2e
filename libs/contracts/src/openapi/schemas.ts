import { z } from 'zod';

/** An object of an OpenAPI document. */
export type Json = Record<string, unknown>;

/** A JSON Schema (2020-12), as OpenAPI 3.1 has them. */
export type JsonSchema = Record<string, unknown>;

/**
 * Turns the shapes of contracts into JSON Schema. Shapes with a name become components, each once, and the result refers
 * to them. All shapes are described as they are sent, before they are parsed.
 */
export class SchemaCollection {
  readonly components: Record<string, JsonSchema> = {};

  of(shape: z.ZodType): JsonSchema {
    const { properties, $defs } = z.toJSONSchema(z.object({ it: shape }), {
      io: 'input',
      target: 'draft-2020-12',
      unrepresentable: 'any',
      override: ({ jsonSchema }) => normalize(jsonSchema as JsonSchema),
    }) as unknown as { properties: { it: JsonSchema }; $defs?: Record<string, JsonSchema> };
    for (const [name, schema] of Object.entries($defs ?? {})) {
      const component = relocate(schema);
      const known = this.components[name];
      if (known && JSON.stringify(known) !== JSON.stringify(component)) {
        throw new Error(`Two shapes are named ${name}.`);
      }
      this.components[name] = component;
    }
    return relocate(properties.it);
  }

  /** The schema that a reference refers to. */
  resolve(schema: JsonSchema): JsonSchema {
    const reference = schema['$ref'];
    if (typeof reference !== 'string') return schema;
    return this.components[reference.replace('#/components/schemas/', '')] ?? {};
  }
}

/** Describes numeric enumerations as integers, and an instant as the string that is sent. */
function normalize(schema: JsonSchema): void {
  const values = schema['enum'];
  if (Array.isArray(values) && values.every(Number.isInteger)) schema['type'] = 'integer';
  if (schema['format'] === 'date-time') {
    for (const name of ['anyOf', 'pattern']) delete schema[name];
    schema['type'] = 'string';
  }
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  delete schema['id'];
}

/** Rewrites the references of zod to those of OpenAPI. */
function relocate(value: unknown): JsonSchema {
  return JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/')) as JsonSchema;
}

/** A value that is valid for a schema, from its examples where it has any. */
export function exampleOf(schema: JsonSchema, collection: SchemaCollection, depth = 0): unknown {
  const resolved = collection.resolve(schema);
  const { examples, default: byDefault, const: constant, enum: values, anyOf, oneOf, type } = resolved;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (constant !== undefined) return constant;
  if (Array.isArray(values)) return values[0];
  if (byDefault !== undefined && byDefault !== null) return byDefault;
  const alternatives = (anyOf ?? oneOf) as JsonSchema[] | undefined;
  if (alternatives) return exampleOf(alternatives[0]!, collection, depth);
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return exampleObject(resolved, collection, depth);
    case 'array':
      return depth > 6 ? [] : [exampleOf((resolved['items'] ?? {}) as JsonSchema, collection, depth + 1)];
    case 'integer':
    case 'number':
      return resolved['minimum'] ?? 1;
    case 'boolean':
      return true;
    case 'string':
      return exampleText(resolved);
    default:
      return null;
  }
}

function exampleObject(schema: JsonSchema, collection: SchemaCollection, depth: number): unknown {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  if (properties.length > 0) {
    return Object.fromEntries(
      properties.map(([name, member]) => [name, exampleOf(member, collection, depth + 1)]),
    );
  }
  const members = schema['additionalProperties'];
  return members && typeof members === 'object' && Object.keys(members).length > 0
    ? { key: exampleOf(members as JsonSchema, collection, depth + 1) }
    : {};
}

const textByFormat: Record<string, string> = {
  'date-time': '2026-11-21T12:00:00.000Z',
  date: '2026-11-21',
  uuid: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55',
  uri: 'https://example.com/',
  email: 'ada@example.com',
  'language-tag': 'fr-CA',
};

const exampleText = ({ format, minLength }: JsonSchema): string =>
  textByFormat[String(format)] ?? 'text'.padEnd(Number(minLength ?? 0), '.');
