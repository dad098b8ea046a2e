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

  const correct = (format: CsvFormat, correction: FormatCorrection, text: string) =>
    correctFormat(format, correction, {
      open: () => Promise.resolve(Readable.from([Buffer.from(text)])),
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
});
