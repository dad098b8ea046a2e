import { Readable } from 'node:stream';
import { correctFormat } from './correct-format';
import type { CsvFormat } from './file-format';

describe('correctFormat', () => {
  const found: CsvFormat = {
    kind: 'csv',
    encoding: 'utf-8',
    hasByteOrderMark: false,
    delimiter: ',',
    endsWithCr: false,
    hasInvalidBytes: false,
    decimalSeparator: '.',
    hasOtherDecimals: true,
    currency: '$',
  };

  it('forgets what wrongly split cells showed of numbers', async () => {
    const corrected = await correctFormat(
      found,
      { delimiter: ';' },
      {
        open: () => Promise.resolve(Readable.from([Buffer.from('code;price\nA;1,50\n')])),
        cultureOf: () => Promise.resolve('en'),
      },
    );

    expect(corrected).toMatchObject({ delimiter: ';', decimalSeparator: ',' });
    expect(corrected).not.toHaveProperty('hasOtherDecimals');
    expect(corrected).not.toHaveProperty('currency');
  });
});
