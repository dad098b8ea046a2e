import { statementsOf } from './sql-statements.ts';

const changesRows =
  /^(?:INSERT|UPDATE|DELETE|MERGE|COPY|WITH|CREATE\s+(?:MATERIALIZED|TABLE\s+[^(]*\sAS\s)|DO\b.*\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO))\b/is;
/** In a block. */
const setsScopeItself = /\bset_config\('plinth\.scope',\s*'platform'/i;
const setsScope = /^SELECT\s+set_config\('plinth\.scope',\s*'(\w*)',\s*true\)$/i;

/**
 * The statements of a migration that read or change rows before it says that it works for the platform: row level security
 * holds for the owner of the tables too, who sees no rows without that.
 */
export function unscopedStatementsOf(sql: string): string[] {
  let scope = '';
  return statementsOf(sql).filter((statement) => {
    scope = setsScope.exec(statement)?.[1] ?? scope;
    return scope !== 'platform' && changesRows.test(statement) && !setsScopeItself.test(statement);
  });
}
