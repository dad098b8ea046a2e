import { discoverServices } from '../../development/launcher/services.mjs';
import { blockingStatementsOf, concurrentIndexOf } from './index-statements.ts';
import { readMigrations } from '../../development/build/migration-files.ts';

/**
 * The last one that was written before indexes had to be built concurrently. Those up to it are applied by the update of a
 * database of 0.1.0 only, during which writes wait (docs/runbook.md).
 */
const LAST_BEFORE_THE_RULE = '20261126000100';

const services = discoverServices().filter(({ hasDatabase }) => hasDatabase);

describe('an index of a table that may be large', () => {
  it.each(services)('is built by $name while others write', ({ directory }) => {
    const later = readMigrations(directory).filter(({ name }) => name.slice(0, 14) > LAST_BEFORE_THE_RULE);
    expect(later.filter(({ sql }) => blockingStatementsOf(sql).length > 0)).toEqual([]);
  });

  it.each([
    'CREATE INDEX note_text ON note (text)',
    'create unique index note_text on note (text)',
    'CREATE INDEX ON note (text)',
    'CREATE INDEX IF NOT EXISTS note_text ON note (text)',
    'ALTER TABLE note ADD CONSTRAINT note_text UNIQUE (text)',
    'ALTER TABLE note ADD COLUMN extra text, ADD PRIMARY KEY (id)',
    'ALTER TABLE note ADD COLUMN code text UNIQUE',
    'ALTER TABLE note ADD price numeric(10, 2) NOT NULL UNIQUE',
    'ALTER TABLE note ADD COLUMN number int PRIMARY KEY',
    'ALTER TABLE note ADD CONSTRAINT note_times EXCLUDE USING gist (during WITH &&)',
    'ALTER TABLE IF EXISTS public.note ADD UNIQUE (text)',
    'ALTER TABLE "note" ADD UNIQUE (text)',
    'CREATE INDEX "note_text" ON public."note" (text)',
    'CREATE INDEX "note_text" ON "note"("text")',
    'CREATE INDEX note_text ON public.note (text)',
    'CREATE INDEX note_text ON audit.other (id)',
    'ALTER TABLE "note" ADD CONSTRAINT "note_text" UNIQUE ("text")',
    'ALTER TABLE IF EXISTS note ADD COLUMN code text UNIQUE',
    'ALTER TABLE note ADD code int PRIMARY KEY',
    'ALTER TABLE note ADD CONSTRAINT apart EXCLUDE USING gist (period WITH &&)',
    'DO $$ BEGIN\nCREATE INDEX note_text ON note (text); END $$',
    `DO $do$ BEGIN EXECUTE format('ALTER TABLE %I ADD UNIQUE (text)', 'note'); END $do$`,
    'REINDEX TABLE note',
    'CLUSTER note USING note_text',
  ])('is not built by %s', (statement) => {
    expect(blockingStatementsOf(`-- Why.\nCREATE TABLE public.other (id int);\n${statement};`)).toEqual([
      statement,
    ]);
  });

  it.each([
    'CREATE TABLE note (id int PRIMARY KEY); CREATE INDEX note_text ON note (text);',
    'CREATE TABLE public."note" (id int); ALTER TABLE note ADD COLUMN code text UNIQUE;',
    'ALTER TABLE note ADD CONSTRAINT note_text UNIQUE USING INDEX note_text;',
    'ALTER TABLE note ADD COLUMN code text;',
    'CREATE TABLE "note" (id int); CREATE INDEX ON public.Note (id); ALTER TABLE "public"."note" ADD UNIQUE (id);',
    '-- CREATE INDEX note_text ON note (text);\nDROP INDEX note_text;',
    "INSERT INTO note VALUES ('-- it''s'); ALTER TABLE note ADD COLUMN \"unique\" text DEFAULT '; REINDEX TABLE note';",
    'DO $$ BEGIN -- A UNIQUE one is there.\nDROP INDEX note_text; END $$;',
    'CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN\nCREATE INDEX note_text ON note (text); END $$;',
    '-- plinth: no transaction\nCREATE INDEX CONCURRENTLY note_text ON note (text);',
  ])('is not built by %s', (sql) => {
    expect(blockingStatementsOf(sql)).toEqual([]);
  });

  it('is built by a migration of its own, which can be run again', () => {
    const build = 'CREATE UNIQUE INDEX CONCURRENTLY note_text ON note (text)';
    expect(concurrentIndexOf(`-- plinth: no transaction\n-- Why.\n${build};`)).toBe('note_text');
    const named = '-- plinth: no transaction\nCREATE INDEX CONCURRENTLY "noteText" ON "note"("text");';
    expect(concurrentIndexOf(named)).toBe('noteText');
    expect(concurrentIndexOf(named.replaceAll('"', ''))).toBe('notetext');
    expect(concurrentIndexOf(named.replace('ON ', 'ON audit.'))).toBeUndefined();
    const both = `-- plinth: no transaction\n${build};\nDROP INDEX other;`;
    expect(concurrentIndexOf(both)).toBeUndefined();
    expect(blockingStatementsOf(both)).toEqual([build, 'DROP INDEX other']);
  });
});
