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
      override: ({ zodSchema, jsonSchema }) =>
        normalize(jsonSchema as JsonSchema, z.globalRegistry.get(zodSchema)),
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

/** Describes numeric enumerations as integers, an instant as the string that is sent, and what is meant without a text. */
function normalize(schema: JsonSchema, described: Json = {}): void {
  // zod leaves it out of what is transformed.
  if (described['default'] !== undefined) schema['default'] = described['default'];
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
