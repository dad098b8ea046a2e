import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DefinitionField } from '../../../apps/data-exchange/src/domain/definition';
import { atOnce } from '@plinth/exchange/in-turns';
import { suggestMappings } from '../../../apps/data-exchange/src/domain/mapping';
import { fieldsOf, shippedDefinitions } from './shipped-definitions';

interface HeaderRow {
  language: string;
  fields: DefinitionField[];
  /** The property of each column, in their order. */
  columns: [header: string, property: string | null][];
}

function readRow(line: string): HeaderRow {
  const [, language, name, columns] = /^(\w\w) ([\w.]+): (.+)$/.exec(line)!;
  const definition = shippedDefinitions.find((candidate) => candidate.name === name)!;
  return {
    language: language!,
    fields: fieldsOf(definition),
    columns: columns!.split(' | ').map((column) => {
      const [header, property = null] = column.split('=') as [string, string?];
      return [header, property];
    }),
  };
}

const rows = readFileSync(join(__dirname, 'header-rows.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map(readRow);

/** How often a suggestion is right, and how many of the columns that are something are found. */
function measure(measured: readonly HeaderRow[]) {
  let right = 0;
  let suggested = 0;
  let wanted = 0;
  const faults: string[] = [];
  for (const { columns, fields } of measured) {
    const suggestions = atOnce(
      suggestMappings(
        columns.map(([header]) => header),
        fields,
      ),
    );
    for (const [index, [header, property]] of columns.entries()) {
      const { targetProperty } = suggestions[index]!;
      if (targetProperty !== null) suggested++;
      if (property !== null) wanted++;
      if (targetProperty === property && property !== null) right++;
      else if (targetProperty !== property) faults.push(`${header}: ${targetProperty}, not ${property}`);
    }
  }
  return { precision: right / suggested, recall: right / wanted, faults };
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

describe('mappings suggested for 200 header rows', () => {
  it('are measured on at least 200, in four languages', () => {
    expect(rows.length).toBeGreaterThanOrEqual(200);
    expect([...new Set(rows.map(({ language }) => language))].sort()).toEqual(['de', 'en', 'es', 'fr']);
  });

  it.each(['en', 'fr', 'de', 'es'])('are right and nearly complete in the language %s', (language) => {
    const { precision, recall, faults } = measure(rows.filter((row) => row.language === language));
    process.stdout.write(
      `mappings ${language}: precision ${percent(precision)}, recall ${percent(recall)}\n`,
    );

    expect({ precision: precision >= 0.98, recall: recall >= 0.95, faults }).toEqual({
      precision: true,
      recall: true,
      faults: expect.any(Array),
    });
  });
});
