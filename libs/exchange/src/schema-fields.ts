import { z } from 'zod';
import { problemOfIssues } from '@plinth/kernel/validation';
import { CellError, type ExchangeField, type FieldOptions, type FieldValue } from './field';
import {
  booleanField,
  dateField,
  enumField,
  integerField,
  numberField,
  textField,
  timestampField,
  uuidField,
} from './fields';
import { relationField } from './relation';
import { rowMessage, type RowMessage } from './row-message';

/** What a schema does not declare of a property: its column, where the name differs, and its other names. */
export type SchemaFieldOptions = Partial<Omit<FieldOptions, 'required'>> & {
  /** For a nested object: the table of the row that it names. */
  references?: { table: string };
};

/**
 * The columns of a file by the schema of a request body: types, rules, names (`title`) and descriptions are those of
 * the schema. A nested object names a row of another table by its only property.
 */
export function fieldsOf(
  schema: z.ZodObject,
  options: Record<string, SchemaFieldOptions> = {},
): Record<string, ExchangeField> {
  const fields = Object.entries(schema.shape).map(([property, member]) => {
    const { references, ...declared } = options[property] ?? {};
    const kind = kindOf(member as z.ZodType);
    if (kind.type !== 'object') return [property, schemaField(property, member as z.ZodType, declared)];
    const [key] = Object.keys(kind.properties ?? {});
    if (!references || key === undefined)
      throw new Error(`The schema does not declare which table ${property} refers to.`);
    const related = schemaField(key, objectOf(member as z.ZodType).shape[key] as z.ZodType, {});
    const field = relationField({
      column: `${snakeCase(property)}_id`,
      header: `${kind.title ?? titleOf(property)} ${related.header.toLowerCase()}`,
      ...(kind.description ? { description: kind.description } : {}),
      required: isRequired(member as z.ZodType),
      ...declared,
      references: { ...references, key: related },
    });
    return [`${property}.${key}`, field];
  });
  return Object.fromEntries(fields) as Record<string, ExchangeField>;
}

/** The column of a file for one property of a schema. */
function schemaField(property: string, schema: z.ZodType, declared: SchemaFieldOptions): ExchangeField {
  const kind = kindOf(schema);
  const base = typedField(kind, {
    column: snakeCase(property),
    header: kind.title ?? titleOf(property),
    ...(kind.description ? { description: kind.description } : {}),
    required: isRequired(schema),
    ...declared,
  });
  return {
    ...base,
    parse(text) {
      const read = base.parse(text);
      if (read instanceof CellError) return read;
      const checked = schema.safeParse(base.filterType === 'number' ? Number(read) : read, {
        reportInput: true,
      });
      if (!checked.success) return cellErrorOf(checked.error.issues);
      return base.type === 'string' ? (checked.data as FieldValue) : read;
    },
  };
}

interface Kind {
  type?: string;
  format?: string;
  enum?: string[];
  title?: string;
  description?: string;
  properties?: object;
  anyOf?: Kind[];
}

/** The JSON Schema of a value that is not null. */
function kindOf(schema: z.ZodType): Kind {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Kind;
  return json.anyOf?.find(({ type }) => type !== 'null') ?? json;
}

function typedField(kind: Kind, options: FieldOptions): ExchangeField {
  if (kind.enum)
    return enumField({ ...options, values: Object.fromEntries(kind.enum.map((name) => [name, name])) });
  switch (`${kind.type} ${kind.format ?? ''}`.trim()) {
    case 'integer':
      return integerField(options);
    case 'number':
      return numberField(options);
    case 'boolean':
      return booleanField(options);
    case 'string date':
      return dateField(options);
    case 'string date-time':
      return timestampField(options);
    case 'string uuid':
      return uuidField(options);
    case 'string email':
      // Blanks around an address are no part of it.
      return textField({ ...options, lengthMax: Infinity, refine: (text) => text.trim() });
    default:
      // The schema itself limits the length.
      return textField({ ...options, lengthMax: Infinity });
  }
}

/** The object schema inside of an optional or nullable one. */
function objectOf(schema: z.ZodType): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema;
  return objectOf((schema as z.ZodOptional<z.ZodType>).unwrap());
}

const isRequired = (schema: z.ZodType): boolean => !schema.safeParse(null).success;

function cellErrorOf(issues: readonly z.core.$ZodIssue[]): CellError {
  const code = Object.values(problemOfIssues(issues, 'body').errors ?? {})[0]?.[0];
  return new CellError(
    'Validation',
    code ?? 'Service:Validation:FormatValidator',
    messageOfIssue(issues[0]!),
  );
}

/** Which rule a value breaks, as a message that can be localized. */
function messageOfIssue(issue: z.core.$ZodIssue): RowMessage {
  switch (issue.code) {
    case 'too_small':
      return rowMessage(issue.origin === 'string' ? 'minimumLength' : 'atLeast', String(issue.minimum));
    case 'too_big':
      return rowMessage(issue.origin === 'string' ? 'maximumLength' : 'atMost', String(issue.maximum));
    case 'not_multiple_of':
      return rowMessage('multipleOf', issue.divisor);
    case 'invalid_format':
      return rowMessage(issue.format === 'email' ? 'email' : 'notValid');
    case 'custom':
      return messageOfRule(issue.params);
    default:
      return rowMessage('notValid');
  }
}

/** The checks of shapes carry the name of their rule, and its bound where there is one (`text` in libs/contracts). */
function messageOfRule({ rule, maximum }: Record<string, unknown> = {}): RowMessage {
  if (rule === 'NotEmpty') return rowMessage('notEmpty');
  return typeof maximum === 'number' ? rowMessage('maximumLength', maximum) : rowMessage('notValid');
}

const snakeCase = (property: string): string =>
  property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `externalId` is `External id`. */
const titleOf = (property: string): string =>
  property
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^./, (letter) => letter.toUpperCase());
