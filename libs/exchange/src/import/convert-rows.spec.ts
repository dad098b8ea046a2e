import type { ExchangeDefinition } from '../definition';
import { CellError } from '../field';
import { booleanField, textField } from '../fields';
import { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { convertInSteps, rowConverter, type RawRow } from './convert-rows';
import { inTurnsOf } from '../in-turns';

/** Counts how often the cells of its columns are parsed. */
function countingDefinition() {
  const parsed = { code: 0, isActive: 0 };
  const code = textField({ column: 'code', header: 'Code', required: true, lengthMax: 20 });
  const isActive = booleanField({ column: 'is_active', header: 'Active' });
  const fields = {
    code: { ...code, parse: (text: string) => (parsed.code++, code.parse(text)) },
    isActive: { ...isActive, parse: (text: string) => (parsed.isActive++, isActive.parse(text)) },
  };
  return { parsed, isActive, definition: { fields, key: ['code'] } as unknown as ExchangeDefinition };
}

const ROWS = 5_000;
const words = ['true', 'no', 'perhaps'];
const rows = Array.from({ length: ROWS }, (_, index): RawRow => [
  index + 2,
  `C-${index}`,
  words[index % words.length]!,
]);

describe('the cells of a batch', () => {
  it('are read as their field reads them, whether or not their text is repeated', () => {
    const { definition, isActive } = countingDefinition();

    const { rows: valid, invalidRows, errors } = rowConverter(definition, ['code', 'isActive'])(rows);

    const read = [...valid, ...invalidRows].toSorted((left, right) => left.rowNumber - right.rowNumber);
    expect(read.map(({ values }) => [values['code'], values['isActive']])).toEqual(
      rows.map(([, code, text]) => {
        const value = isActive.parse(text as string);
        return [code, value instanceof CellError ? undefined : value];
      }),
    );
    expect(errors).toHaveLength(invalidRows.length);
    expect(new Set(errors.map(({ value, code }) => `${value} ${code}`))).toEqual(
      new Set(['perhaps Service:Conversion:Boolean']),
    );
  });

  it('are shown in no error where they may be secrets, and what stands for a secret is no value', () => {
    const fields = {
      code: textField({ column: 'code', header: 'Code', lengthMax: 20 }),
      pin: textField({ column: 'pin', header: 'Pin', lengthMax: 6, isSecret: true }),
    };
    const definition = { fields, key: ['code'] } as unknown as ExchangeDefinition;

    const { errors } = rowConverter(definition, ['code', 'pin'])([
      [2, 'A', 'hunter2'],
      [3, 'B', '***'],
      [4, 'C', '123456'],
    ]);

    expect(errors.map(({ rowNumber, value, text }) => [rowNumber, value, text?.key])).toEqual([
      [2, '***', 'maximumLength'],
      [3, '***', 'leftOut'],
    ]);
    expect(JSON.stringify(errors)).not.toContain('hunter2');
  });

  it('are read in several turns of the event loop, with the same result', async () => {
    const { definition } = countingDefinition();
    let turns = 0;
    const count = () => void (turns++, (next = setImmediate(count)));
    let next = setImmediate(count);

    const inTurns = inTurnsOf(new EventLoopTurns(), { tenantId: 'acme', userId: 'ada' });
    const converted = await inTurns(convertInSteps(rowConverter(definition, ['code', 'isActive']), rows));

    clearImmediate(next);
    expect(turns).toBeGreaterThan(10);
    expect(converted).toEqual(rowConverter(definition, ['code', 'isActive'])(rows));
  });

  it('are read once for each text in a column that repeats few, and each in one that does not', () => {
    const { definition, parsed } = countingDefinition();

    rowConverter(definition, ['code', 'isActive'])(rows);

    expect(parsed).toEqual({ code: ROWS, isActive: words.length });
  });
});
