import { quoted, statementsOf } from './sql-statements.ts';

/** The first line of a migration that cannot run in a transaction, such as CREATE INDEX CONCURRENTLY. */
const withoutTransaction = /^--\s*plinth:\s*no transaction\b/i;

/** Whether a migration says that it cannot run in a transaction. */
export const runsWithoutTransaction = (sql: string): boolean => withoutTransaction.test(sql);

const identifier = String.raw`(?:"(?:[^"]|"")+"|[\w$]+)`;
const table = String.raw`(?<table>${identifier}(?:\s*\.\s*${identifier})?)`;
const createTable = new RegExp(
  String.raw`^CREATE\s+(?:\w+\s+){0,2}TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?${table}`,
  'i',
);
const alterTable = new RegExp(String.raw`^ALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?${table}`, 'i');
const createIndex = new RegExp(
  String.raw`^CREATE\s+(?:UNIQUE\s+)?INDEX\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:${identifier}\s+)?ON\s+(?:ONLY\s+)?${table}`,
  'i',
);
const createIndexConcurrently = new RegExp(
  String.raw`^CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(?<index>${identifier})\s+ON\s+(?:ONLY\s+)?${table}`,
  'i',
);
const key = /\b(?:UNIQUE|PRIMARY\s+KEY)\b(?!\s+USING\s+INDEX\b)|\bEXCLUDE\s*(?:USING\b|\()/i;
const rebuild = /^(?:REINDEX|CLUSTER)\b(?!.*\bCONCURRENTLY\b)/is;
const anyOfThem = new RegExp(
  String.raw`\bCREATE\s+(?:UNIQUE\s+)?INDEX\b|\b(?:REINDEX|CLUSTER)\b|${key.source}`,
  'i',
);

/** The index that a migration builds concurrently, where it does nothing else; it may be run again from the beginning. */
export function concurrentIndexOf(sql: string): string | undefined {
  const [statement = '', ...others] = runsWithoutTransaction(sql) ? statementsOf(sql) : [];
  const { index, table } = createIndexConcurrently.exec(statement)?.groups ?? {};
  // That of a table of another schema has a name there, and would not be found.
  if (!index || !table || nameOf(table).includes('.') || others.length > 0) return undefined;
  return nameOf(index);
}

/**
 * What of a migration keeps everybody from writing a table that may be large: each statement that builds an index, or a key,
 * of a table that the migration does not create itself; and what runs without a transaction and could not be run again.
 */
export function blockingStatementsOf(sql: string): string[] {
  const statements = statementsOf(sql);
  if (runsWithoutTransaction(sql)) return concurrentIndexOf(sql) === undefined ? statements : [];
  const created = new Set(statements.map((statement) => tableOf(createTable, statement)));
  return statements.filter((statement) => {
    // Its statements are executed, unlike those in the body of a function, and may be made of texts.
    if (/^DO\b/i.test(statement)) return anyOfThem.test(statement.replaceAll(/--.*$|\/\*.*?\*\//gms, ' '));
    const words = statement.replaceAll(quoted, "''");
    if (rebuild.test(words)) return true;
    const built =
      tableOf(createIndex, statement) ?? (key.test(words) ? tableOf(alterTable, statement) : undefined);
    return built !== undefined && !created.has(built);
  });
}

function tableOf(pattern: RegExp, statement: string): string | undefined {
  const found = pattern.exec(statement)?.groups?.['table'];
  return found && nameOf(found);
}

/** A name as the server has it; that of a table with its schema, where that is not the usual one. */
const nameOf = (written: string): string =>
  [...written.matchAll(/"((?:[^"]|"")+)"|[^\s."]+/g)]
    .map(([plain, quotedName]) => quotedName?.replaceAll('""', '"') ?? plain.toLowerCase())
    .join('.')
    .replace(/^public\./, '');
