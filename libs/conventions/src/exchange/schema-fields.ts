import { z } from 'zod';
import { problemOfIssues } from '../validation';
import { CellFault, type ExchangeField, type FieldOptions, type FieldValue } from './field';
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
import { rowText, type RowText } from './row-texts';

/** What a schema does not say of a property: its column, where its name is not the property's, and its other names. */
export type SchemaFieldOptions = Partial<Omit<FieldOptions, 'required'>> & {
  /** For a nested object: the table that it names a row of. */
  references?: { table: string };
};

/**
 * The columns of a file by the schema of what a request may say: types, rules, names (`title`) and descriptions are
 * those of the schema. A nested object names a row of another table by the one property it has.
 */
export function fieldsOf(
  schema: z.ZodObject,
  options: Record<string, SchemaFieldOptions> = {},
): Record<string, ExchangeField> {
  const fields = Object.entries(schema.shape).map(([property, member]) => {
    const { references, ...said } = options[property] ?? {};
    const kind = kindOf(member as z.ZodType);
    if (kind.type !== 'object') return [property, schemaField(property, member as z.ZodType, said)];
    const [key] = Object.keys(kind.properties ?? {});
    if (!references || key === undefined)
      throw new Error(`The schema does not say what ${property} refers to.`);
    const related = schemaField(key, objectOf(member as z.ZodType).shape[key] as z.ZodType, {});
    const field = relationField({
      column: `${snakeCase(property)}_id`,
      header: `${kind.title ?? titleOf(property)} ${related.header.toLowerCase()}`,
      ...(kind.description ? { description: kind.description } : {}),
      required: isRequired(member as z.ZodType),
      ...said,
      references: { ...references, key: related },
    });
    return [`${property}.${key}`, field];
  });
  return Object.fromEntries(fields) as Record<string, ExchangeField>;
}

/** The column of a file for one property of a schema. */
function schemaField(property: string, schema: z.ZodType, said: SchemaFieldOptions): ExchangeField {
  const kind = kindOf(schema);
  const base = typedField(kind, {
    column: snakeCase(property),
    header: kind.title ?? titleOf(property),
    ...(kind.description ? { description: kind.description } : {}),
    required: isRequired(schema),
    ...said,
  });
  return {
    ...base,
    parse(text) {
      const read = base.parse(text);
      if (read instanceof CellFault) return read;
      const judged = schema.safeParse(base.filterType === 'number' ? Number(read) : read, {
        reportInput: true,
      });
      if (!judged.success) return faultOf(judged.error.issues);
      return base.type === 'string' ? (judged.data as FieldValue) : read;
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

/** What JSON Schema says of a value that is there. */
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
    default:
      // How long it may be is a rule of the schema.
      return textField({ ...options, lengthMax: Infinity });
  }
}

/** The object inside of what may be null or absent. */
function objectOf(schema: z.ZodType): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema;
  return objectOf((schema as z.ZodOptional<z.ZodType>).unwrap());
}

const isRequired = (schema: z.ZodType): boolean => !schema.safeParse(null).success;

function faultOf(issues: readonly z.core.$ZodIssue[]): CellFault {
  const code = Object.values(problemOfIssues(issues, 'body').errors ?? {})[0]?.[0];
  return new CellFault('Validation', code ?? 'Service:Validation:FormatValidator', textOf(issues[0]!));
}

/** Which rule a value breaks, as a text that every culture has. */
function textOf(issue: z.core.$ZodIssue): RowText {
  switch (issue.code) {
    case 'too_small':
      return rowText(issue.origin === 'string' ? 'minimumLength' : 'atLeast', String(issue.minimum));
    case 'too_big':
      return rowText(issue.origin === 'string' ? 'maximumLength' : 'atMost', String(issue.maximum));
    case 'not_multiple_of':
      return rowText('multipleOf', issue.divisor);
    case 'invalid_format':
      return rowText(issue.format === 'email' ? 'email' : 'notValid');
    case 'custom':
      return textOfRule(issue.params);
    default:
      return rowText('notValid');
  }
}

/** Shapes say of their own checks which rule it is, and the bound where there is one (`text` in libs/contracts). */
function textOfRule({ rule, maximum }: Record<string, unknown> = {}): RowText {
  if (rule === 'NotEmpty') return rowText('notEmpty');
  return typeof maximum === 'number' ? rowText('maximumLength', maximum) : rowText('notValid');
}

const snakeCase = (property: string): string =>
  property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `externalId` is `External id`. */
const titleOf = (property: string): string =>
  property
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^./, (letter) => letter.toUpperCase());
