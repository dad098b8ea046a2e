import { discoverServices } from '../../development/launcher/services.mjs';
import { unscopedStatementsOf } from './data-statements.ts';
import { readMigrations } from '../../development/build/migration-files.ts';

const services = discoverServices().filter(({ hasDatabase }) => hasDatabase);
const SCOPE = `SELECT set_config('plinth.scope', 'platform', true);`;

describe('a migration that reads or changes rows', () => {
  it.each(services)('sees those of all tenants of $name', ({ directory }) => {
    const migrations = readMigrations(directory);
    expect(migrations.filter(({ sql }) => unscopedStatementsOf(sql).length > 0)).toEqual([]);
  });

  it.each([
    'INSERT INTO note_count (tenant_id) SELECT tenant_id FROM note',
    'update note SET text = NULL',
    'DELETE FROM note',
    'WITH old AS (SELECT id FROM note) DELETE FROM note USING old',
    'CREATE TABLE copy AS SELECT * FROM note',
    'DO $$ BEGIN\nUPDATE note SET text = NULL; END $$',
  ])('sees none by %s alone', (statement) => {
    expect(unscopedStatementsOf(`-- Why.\n${statement};\n${SCOPE}`)).toEqual([statement]);
    const reset = `${SCOPE}\nSELECT set_config('plinth.scope', '', true);`;
    expect(unscopedStatementsOf(`${reset}\n${statement};`)).toEqual([statement]);
    expect(unscopedStatementsOf(`${SCOPE}\n${statement};`)).toEqual([]);
  });

  it.each([
    'CREATE TABLE note (id int, text text);',
    "DO $$ BEGIN\nPERFORM set_config('plinth.scope', 'platform', true); DELETE FROM note; END $$;",
    'CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN\nDELETE FROM note; END $$;',
    'CREATE TRIGGER changed AFTER UPDATE ON note FOR EACH ROW EXECUTE FUNCTION f();',
  ])('is not %s', (sql) => {
    expect(unscopedStatementsOf(sql)).toEqual([]);
  });
});
