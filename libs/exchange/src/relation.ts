import { escapeIdentifier } from 'pg';
import type { ExchangeDefinition } from './definition';
import type { ExchangeField, FieldOptions, Relation } from './field';

/** A column that holds the id of a row of another table, which files name by its natural key. */
export const relationField = ({
  references,
  ...options
}: FieldOptions & { references: Relation }): ExchangeField => {
  const { type, filterType, format, values, parse } = references.key;
  return {
    ...options,
    type,
    filterType,
    ...(format === undefined ? {} : { format }),
    ...(values === undefined ? {} : { values }),
    sqlType: 'uuid',
    parse,
    relation: references,
  };
};

const joined = (property: string): string => escapeIdentifier(`related ${property}`);

/** What exports show, filter and sort by instead of an id: the key of the related row. */
export const relatedKey = (property: string, { key }: Relation): string =>
  `${joined(property)}.${escapeIdentifier(key.column)}`;

/** The joins of all related tables; Postgres leaves out those that a query does not use. */
export const relationJoins = ({ fields }: ExchangeDefinition): string =>
  Object.entries(fields)
    .flatMap(([property, { column, relation }]) =>
      relation
        ? `LEFT JOIN ${escapeIdentifier(relation.table)} AS ${joined(property)}
            ON ${joined(property)}.tenant_id = t.tenant_id AND ${joined(property)}.id = t.${escapeIdentifier(column)}`
        : [],
    )
    .join(' ');
