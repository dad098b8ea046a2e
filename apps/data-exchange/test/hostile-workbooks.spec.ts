import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { hostileWorkbooks, type Ending } from './hostile-workbooks';
import { reportOf, startDataExchange, upload, type DataExchange } from './start-data-exchange';

describe('a hostile workbook', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  /** Brings a file as far as it gets; each step that refuses it must say why. */
  const endingOf = async (content: Buffer): Promise<{ ending: Ending; reason: string }> => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const uploaded = await upload(exchange, caller, content, { fileName: 'hostile.xlsx' });
    if (uploaded.status !== 201) {
      const ending =
        uploaded.status === 415 ? 'unsupported' : uploaded.status === 422 ? 'refused' : undefined;
      if (!ending) throw new Error(`${uploaded.status}: ${uploaded.text}`);
      return { ending, reason: uploaded.body.detail };
    }
    const preview = await http.post(`/imports/${uploaded.body.id}/preview`);
    if (preview.status === 422) return { ending: 'unreadable', reason: preview.body.detail };
    if (preview.status !== 200) throw new Error(preview.text);
    const mappings = [
      { sourceColumn: 'Code', targetProperty: 'code' },
      { sourceColumn: 'Title', targetProperty: 'title' },
    ];
    const mapped = await http.put(`/imports/${uploaded.body.id}/mappings`, { mappings });
    if (mapped.status === 422) return { ending: 'harmless', reason: mapped.body.detail };
    await http.post(`/imports/${uploaded.body.id}/execute`);
    const report = await reportOf(exchange, caller, uploaded.body.id);
    return report.errorMessage === null
      ? { ending: 'harmless', reason: report.finalStatus }
      : { ending: 'failed', reason: report.errorMessage };
  };

  /** In the blob store. */
  const files = (): string[] =>
    readdirSync(exchange.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((file) => join(file.parentPath, file.name));

  it('is tested in at least sixty kinds', () => {
    expect(hostileWorkbooks.length).toBeGreaterThanOrEqual(60);
  });

  it.each(hostileWorkbooks)(
    'with %s ends as %s, and leaves no file where it is refused',
    async (_what, expected, make) => {
      const before = new Set(files());
      const ending = endingOf(make());
      const meanwhile = await exchange.as(aCaller()).get('/exports/definitions');

      expect(meanwhile.status).toBe(200);
      const { ending: found, reason } = await ending;
      expect([found, reason]).toEqual([expected, expect.stringMatching(/\w{4}/)]);
      if (expected === 'refused' || expected === 'unsupported')
        await eventually(() => files().every((file) => before.has(file)));
    },
  );
});
