/** Names, texts, and bodies of functions and blocks, in which a semicolon ends no statement and two hyphens no line. */
const quotedPattern = String.raw`"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(?<tag>\w*)\$.*?\$\k<tag>\$`;
export const quoted = new RegExp(quotedPattern, 'gs');
const commentOrQuoted = new RegExp(String.raw`--[^\n]*|/\*.*?\*/|${quotedPattern}`, 'gs');
const statementPattern = new RegExp(`(?:${quotedPattern}|[^;])+`, 'gs');

/** The statements of a migration, without comments but those in the bodies of functions and blocks. */
export const statementsOf = (sql: string): string[] =>
  (
    sql
      .replaceAll(commentOrQuoted, (text) => (/^(?:--|\/\*)/.test(text) ? ' ' : text))
      .match(statementPattern) ?? []
  )
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
