import { textField } from '@plinth/exchange/fields';
import { aCaller } from '@plinth/testing/http';
import { articles } from './a-shop';
import { importFile, startDataExchange, upload, type DataExchange } from './start-data-exchange';

const definitionName = 'Shop.Keys';

/** Articles whose titles open something. */
const keys = {
  ...articles,
  name: definitionName,
  fields: {
    ...articles.fields,
    title: textField({ column: 'title', header: 'Title', required: true, lengthMax: 12, isSecret: true }),
  },
};

const file = [
  'code,title,stock,note',
  'A,hunter2,many,hunter2',
  'B,hunter2 hunter2,1,plain',
  'C,hunter2,1,hunter2,hunter2,hunter2',
  'D,"hunter2"\n',
].join('\n');

describe('imports of a definition with secrets', () => {
  let exchange: DataExchange;
  beforeAll(async () => {
    exchange = await startDataExchange({ definitions: [keys] });
  });
  afterAll(() => exchange.close());

  it('store and show none of them with the rows that fail', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const { jobId, report } = await importFile(exchange, caller, file, undefined, { definitionName });

    expect(report).toMatchObject({ insertedRows: 1, failedRows: 3 });
    const withCells = (await http.get(`/imports/${jobId}/report?includeCells=true&includeGroups=true`)).body;
    expect(withCells.rowErrors.map(({ cells }: { cells: string[] }) => cells)).toEqual([
      ['A', '***', 'many', '***'],
      ['B', '***', '1', '***'],
      ['***', '***', '***', '***', '***', '***'],
    ]);
    const correction = (await http.get(`/imports/${jobId}/correction-file`)).text;
    expect(correction).toContain('A,***,many');
    const stored = await exchange.db.inTenant(caller.tenantId, (tx) => tx.importFailedPart.findMany());
    expect(stored).toHaveLength(1);
    for (const shown of [withCells, correction, stored.map(({ details, cells }) => [details, cells])])
      expect(JSON.stringify(shown)).not.toContain('hunter2');
  });

  it('refuse what stands for them, so that no correction file makes it their value', async () => {
    const caller = aCaller();
    const { report } = await importFile(exchange, caller, 'code,title\nA,***\n', undefined, {
      definitionName,
    });

    expect(report).toMatchObject({ insertedRows: 0, failedRows: 1 });
    expect(await exchange.shop.rows(caller.tenantId)).toEqual([]);
  });

  it('show them in the preview to whoever uploaded the file, and to nobody else', async () => {
    const uploader = aCaller();
    const other = aCaller({ tenantId: uploader.tenantId, userId: 'somebody-else' });
    const { body: job } = await upload(exchange, uploader, file, { definitionName });
    const rows = async (who: typeof uploader) =>
      (await exchange.as(who).post(`/imports/${job.id}/preview`)).body.previewRows as string[][];

    expect((await rows(uploader))[0]).toEqual(['A', 'hunter2', 'many', 'hunter2']);
    const shown = await rows(other);
    expect(shown[0]).toEqual(['A', '***', 'many', '***']);
    expect(JSON.stringify(shown)).not.toContain('hunter2');
  });

  it('show them to nobody else who says that their column is another one, now or for such files', async () => {
    const uploader = aCaller();
    const other = aCaller({ tenantId: uploader.tenantId, userId: 'somebody-else' });
    const http = exchange.as(other);
    const table = 'code,title\nA,hunter2\n';
    const swapped = {
      mappings: [
        { sourceColumn: 'code', targetProperty: 'title' },
        { sourceColumn: 'title', targetProperty: 'code' },
      ],
    };
    const { body: own } = await upload(exchange, other, table, { definitionName });
    await http.post(`/imports/${own.id}/preview`);
    await http.put(`/imports/${own.id}/mappings`, { ...swapped, saveForReuse: true });
    const { body: job } = await upload(exchange, uploader, table, { definitionName });

    const { previewRows } = (await http.post(`/imports/${job.id}/preview`)).body;
    expect(previewRows).toEqual([[expect.anything(), '***']]);
    const refused = [
      await http.put(`/imports/${job.id}/draft-mappings`, swapped),
      await http.put(`/imports/${job.id}/mappings`, swapped),
      await http.put(`/imports/${job.id}/format`, { headerRow: 2 }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);

    const mappings = [
      { sourceColumn: 'code', targetProperty: 'code' },
      { sourceColumn: 'title', targetProperty: 'title' },
    ];
    const confirmed = await exchange.as(uploader).put(`/imports/${job.id}/mappings`, { mappings });
    const tried = await http.post(`/imports/${job.id}/dry-run`);
    expect([confirmed.status, tried.status]).toEqual([204, 200]);
  });
});
