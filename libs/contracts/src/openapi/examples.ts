import { contactsExamples } from '../contacts/examples';
import { dataExchangeExamples } from '../data-exchange/examples';
import { localizationExamples } from '../localization/examples';
import { platformExamples } from '../platform/examples';
import { settingsExamples } from '../settings/examples';
import { templateExamples } from '../template/examples';
import { timelineExamples } from '../timeline/examples';
import { workflowExamples } from '../workflow/examples';
import type { Json, JsonSchema, SchemaCollection } from './schemas';

const exampleByShape = new Map(
  Object.entries({
    ...contactsExamples,
    ...dataExchangeExamples,
    ...localizationExamples,
    ...platformExamples,
    ...settingsExamples,
    ...templateExamples,
    ...timelineExamples,
    ...workflowExamples,
  }).map(([name, example]) => [`#/components/schemas/${name}`, example]),
);

/** A text that is nobody's example: it stands where a schema says nothing about its values. */
export const WITHOUT_EXAMPLE = 'text';

/**
 * A value that is valid for a schema: the example of its shape, else one made from the examples of its members.
 * @param name of the member that it is for
 */
export function exampleOf(schema: JsonSchema, collection: SchemaCollection, name = '', depth = 0): unknown {
  const ofShape = exampleByShape.get(String(schema['$ref']));
  if (ofShape !== undefined) return ofShape;
  const resolved = collection.resolve(schema);
  const { examples, default: byDefault, const: constant, enum: values, anyOf, oneOf, type } = resolved;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (constant !== undefined) return constant;
  if (Array.isArray(values)) return values[0];
  if (byDefault !== undefined && byDefault !== null) return byDefault;
  const alternatives = (anyOf ?? oneOf) as JsonSchema[] | undefined;
  if (alternatives) return exampleOf(alternatives[0]!, collection, name, depth);
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return exampleObject(resolved, collection, name, depth);
    case 'array':
      return depth > 6
        ? []
        : [exampleOf((resolved['items'] ?? {}) as JsonSchema, collection, name, depth + 1)];
    case 'integer':
    case 'number':
      return Math.max(Number(resolved['minimum'] ?? 0), 1);
    case 'boolean':
      return true;
    case 'string':
      return exampleText(resolved, name);
    default:
      return null;
  }
}

function exampleObject(
  schema: JsonSchema,
  collection: SchemaCollection,
  name: string,
  depth: number,
): unknown {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  if (properties.length > 0) {
    return Object.fromEntries(
      properties.map(([member, one]) => [
        member,
        member in valueByName ? valueByName[member] : exampleOf(one, collection, member, depth + 1),
      ]),
    );
  }
  const members = schema['additionalProperties'];
  return members && typeof members === 'object' && Object.keys(members).length > 0
    ? { key: exampleOf(members as JsonSchema, collection, name, depth + 1) }
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

function exampleText({ format, minLength, maxLength, pattern }: JsonSchema, name: string): string {
  const byFormat = textByFormat[String(format)];
  if (byFormat !== undefined) return byFormat;
  const text = textByName[name] ?? WITHOUT_EXAMPLE;
  const fits =
    text.length >= Number(minLength ?? 0) &&
    text.length <= Number(maxLength ?? Infinity) &&
    (pattern === undefined || new RegExp(String(pattern), 'u').test(text));
  return fits ? text : WITHOUT_EXAMPLE.padEnd(Number(minLength ?? 0), '.');
}

/** Of a page that is the last, and of an item that succeeded. */
const valueByName: Record<string, unknown> = { error: null, hasMore: false, nextCursor: null };

/** What members of these names hold in practice, wherever their schemas have no examples of their own. */
const textByName: Record<string, string> = {
  createdBy: 'ada',
  entityId: '4711',
  name: 'welcome',
  preset: 'French texts',
  userId: 'ada',
  userName: 'Ada',
};

/** A problem as a response of this status and type has it. @param instance the path of the request */
export function exampleProblem(
  status: number,
  { slug, title, detail }: { slug?: string; title: string; detail: string },
  instance: string,
  more: Json = {},
): Json {
  return {
    type:
      slug === undefined
        ? 'https://tools.ietf.org/html/rfc7807'
        : `https://platform.example/problems/${slug}`,
    title,
    status,
    detail,
    instance,
    ...more,
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  };
}
