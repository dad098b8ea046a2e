import type { IncomingMessage } from 'node:http';
import type { Caller } from '@plinth/kernel/caller';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import {
  importFile,
  mappedImport,
  startDataExchange,
  upload,
  type DataExchange,
} from './start-data-exchange';
import { startTranslations } from './translations';

const french = {
  'DataExchange:rowErrors.integer': '{0} doit être un nombre entier.',
  'DataExchange:rowErrors.duplicateKey': 'La ligne {1} a les mêmes valeurs que la ligne {3} : {2}.',
  'DataExchange:rowErrors.tooManyCells': 'La ligne a plus de cellules que l’en-tête n’a de colonnes.',
  'DataExchange:findings.NoHeader': 'La ligne {0} n’est pas un en-tête.',
};

/** What a report says of the rows 3 to 6. The column is called what the file calls it. */
const content = 'SKU,Title,Stock\nA,a,1\nB,b,much\nA,c,1\nC,,1\nD,d,1,more\n';
const inEnglish = [
  'Stock must be a whole number. ("much")',
  'SKU: Row 2 of this file has the same Code as row 4. ("A")',
  'Title must not be empty. ("")',
  'The row has more cells than the header has columns.',
];
const inFrench = [
  'Stock doit être un nombre entier. ("much")',
  'SKU: La ligne 2 a les mêmes valeurs que la ligne 4 : Code. ("A")',
  'Title must not be empty. ("")',
  'La ligne a plus de cellules que l’en-tête n’a de colonnes.',
];

describe('the messages of failed rows', () => {
  let exchange: DataExchange;
  let translations: Awaited<ReturnType<typeof startTranslations>>;

  beforeAll(async () => {
    translations = await startTranslations(french);
    exchange = await startDataExchange({ localization: translations.address });
    const request = { headers: { 'accept-language': 'fr' } } as IncomingMessage;
    // On a busy machine the first call may take longer than a report waits for it.
    await eventually(async () => (await exchange.messageTexts.of(aCaller(), request)).culture === 'fr');
  });
  afterAll(async () => {
    await exchange.close();
    await translations.close();
  });

  const reads = (caller: Caller, path: string, language: string) =>
    exchange.as(caller).get(path, { headers: { 'accept-language': language } });
  const messages = (report: { rowErrors: { message: string }[] }) =>
    report.rowErrors.map(({ message }) => message);

  it('are in the culture of the caller who reads the report, also for the same import', async () => {
    const caller = aCaller();
    const { jobId } = await importFile(exchange, caller, content);

    const english = await reads(caller, `/imports/${jobId}/report`, 'en-GB');
    const other = await reads(caller, `/imports/${jobId}/report`, 'fr;q=0.9, en;q=0.5');

    expect(messages(english.body)).toEqual(inEnglish);
    expect(messages(other.body)).toEqual(inFrench);
    expect(other.body.rowErrors[0]).toEqual({
      rowNumber: 3,
      kind: 'Conversion',
      errorCodes: ['Service:Conversion:Integer'],
      message: inFrench[0],
      details: [
        {
          column: 'Stock',
          value: 'much',
          code: 'Service:Conversion:Integer',
          message: 'Stock doit être un nombre entier.',
        },
      ],
    });
    expect(other.headers.get('etag')).not.toBe(english.headers.get('etag'));
  });

  it('are localized where they explain how a file is read', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const file = 'A,1.50,2026-03-04\nB,2.50,2026-03-05\nC,3.50,2026-03-06\n';
    const { body: job } = await upload(exchange, caller, file);
    const headers = { 'accept-language': 'fr' };
    const expected = [{ code: 'NoHeader', detail: 'La ligne 1 n’est pas un en-tête.' }];

    expect((await http.post(`/imports/${job.id}/preview`, null, { headers })).body.findings).toEqual(
      expected,
    );
    expect((await http.get(`/imports/${job.id}/format`, { headers })).body.findings).toEqual(expected);
    expect((await reads(caller, `/imports/${job.id}/format`, 'en')).body.findings).toEqual([
      { code: 'NoHeader', detail: expect.stringContaining('there is no header') },
    ]);
  });

  it('are localized in the correction file and in a dry-run as well', async () => {
    const caller = aCaller();
    const dryId = await mappedImport(exchange, caller, content);
    const headers = { 'accept-language': 'fr' };
    const dry = await exchange.as(caller).post(`/imports/${dryId}/dry-run`, null, { headers });
    const { jobId } = await importFile(exchange, caller, content);
    const { text: file } = await reads(caller, `/imports/${jobId}/correction-file`, 'fr');

    expect(messages(dry.body)).toEqual(inFrench);
    expect(file).toContain('B,b,much,"Stock doit être un nombre entier. (""much"")"');
  });

  it('are in English while localization is unavailable', async () => {
    const alone = await startDataExchange({ localization: '127.0.0.1:1' });
    const caller = aCaller();
    const { jobId } = await importFile(alone, caller, content);
    const headers = { 'accept-language': 'fr' };
    const { body } = await alone.as(caller).get(`/imports/${jobId}/report`, { headers });
    await alone.close();

    expect(messages(body)).toEqual(inEnglish);
  });
});
