import { Readable } from 'node:stream';
import { plainFormat } from '../../test/plain-format';
import { correctFormat, type FormatCorrection } from './correct-format';
import type { CsvFormat } from './file-format';

describe('correctFormat', () => {
  const found: CsvFormat = {
    ...plainFormat,
    decimalSeparator: '.',
    hasOtherDecimals: true,
    currency: '$',
  };

  const correct = (format: CsvFormat, correction: FormatCorrection, text: string | Iterable<Buffer>) =>
    correctFormat(format, correction, {
      open: () => Promise.resolve(Readable.from(typeof text === 'string' ? [Buffer.from(text)] : text)),
      cultureOf: () => Promise.resolve('en'),
    }) as Promise<CsvFormat>;

  it('forgets what wrongly split cells showed of numbers', async () => {
    const corrected = await correct(found, { delimiter: ';' }, 'code;price\nA;1,50\n');

    expect(corrected).toMatchObject({ delimiter: ';', decimalSeparator: ',' });
    expect(corrected).not.toHaveProperty('hasOtherDecimals');
    expect(corrected).not.toHaveProperty('currency');
  });

  it('keeps the decimal separator that somebody named when the layout is corrected later', async () => {
    const text = 'Prices;\ncode;price;weight\nA;1,234;\nB;7,250;48.137\n';
    const named = await correct({ ...found, delimiter: ';' }, { decimalSeparator: ',' }, text);
    const corrected = await correct(named, { headerRow: 2 }, text);

    expect(corrected).toMatchObject({ headerRow: 2, decimalSeparator: ',' });
    expect(corrected).not.toHaveProperty('unclearColumns');
  });

  it('takes a header of no rows for none, and refuses one that stands in a row', async () => {
    expect(await correct(found, { headerRows: 0 }, 'a,b\nc,d\n')).toMatchObject({ headerRow: 0 });
    await expect(correct(found, { headerRow: 2, headerRows: 0 }, 'a,b\nc,d\n')).rejects.toMatchObject({
      options: { errors: { headerRows: [expect.any(String)] } },
    });
  });

  it('looks at no more than a part of very wide rows', async () => {
    const row = Buffer.from(`${'(EUR 1.234);'.repeat(999)}(EUR 1.234)\n`);
    let rows = 0;
    function* text() {
      yield Buffer.from(`${Array.from({ length: 1_000 }, (_, column) => `c${column}`).join(';')}\n`);
      for (; rows < 1_000; rows++) yield row;
    }

    await correct({ ...found, delimiter: ';' }, { dateOrder: 'DayMonthYear' }, text());

    expect(rows).toBeLessThan(200);
  });
});
