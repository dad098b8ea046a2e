import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aCaller, type TestClient } from '@plinth/testing/http';
import { pagesOfPdf, textOfPdf } from '@plinth/testing/pdf-text';
import { startPdfRenderer } from '@plinth/testing/start-pdf-renderer';
import { published, startTemplates, type Templates } from './start-templates';

const example = (file: string): string =>
  readFileSync(join(__dirname, '../../../docs/examples/invoice', file), 'utf8');

describe('the invoice template of the documentation', () => {
  const { culture, data } = JSON.parse(example('data.json'));
  let renderer: Awaited<ReturnType<typeof startPdfRenderer>>;
  let service: Templates;
  let http: TestClient;
  beforeAll(async () => {
    renderer = await startPdfRenderer();
    service = await startTemplates({}, renderer.address);
    http = service.as(aCaller());
    for (const name of ['letter', 'invoice-lines', 'invoice']) {
      await published(http, { name, content: example(`${name}.html`) });
    }
  });
  afterAll(async () => {
    await service.close();
    await renderer.close();
  });

  const rendered = async (format: number): Promise<Buffer> => {
    const { url, headers } = http.address('POST', '/templates/invoice/render');
    const body = JSON.stringify({ culture, format, data });
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status !== 200) throw new Error(bytes.toString());
    expect(response.headers.get('x-template-warnings')).toBe('0');
    const folder = process.env['PLINTH_KEEP_DOCUMENTS'];
    if (folder) writeFileSync(join(folder, `invoice.${['json', 'pdf', 'xlsx'][format]}`), bytes);
    return bytes;
  };
  const total = 'Gesamt\t€ 14.';

  it('renders as HTML with a subject, and as text', async () => {
    const { html, plainText, subject } = JSON.parse((await rendered(0)).toString());

    expect(subject).toBe('Rechnung 2026-0417');
    expect(html).toContain('Uferstraße 3 &lt;Hof&gt;');
    expect(html.match(/<tr>/g)).toHaveLength(200 + 1 + 3 + 3);
    expect(plainText).toContain('Uferstraße 3 <Hof>');
    expect(plainText).toContain('21. November 2026');
    expect(plainText.replace(/\u00a0/g, ' ')).toContain(total.slice(0, 9));
  });

  it('renders as a PDF of some pages with the sum at its end', async () => {
    const pdf = await rendered(1);

    const text = textOfPdf(pdf).replace(/\s+/g, ' ');
    expect(pagesOfPdf(pdf)).toBeGreaterThan(4);
    expect(text).toContain('Rechnung 2026-0417');
    expect(text).toContain('Vielen Dank');
    expect(text).toContain(`1 / ${pagesOfPdf(pdf)}`);
  });

  it('renders as a workbook in which numbers are numbers', async () => {
    const { default: excel } = await import('exceljs');
    const workbook = new excel.Workbook();
    await workbook.xlsx.load((await rendered(2)) as unknown as ArrayBuffer);

    expect(workbook.worksheets.map(({ name, rowCount }) => [name, rowCount])).toEqual([
      ['Rechnung', 3],
      ['Leistung', 201],
      ['Gesamt', 3],
    ]);
    const sum = data.lines.reduce(
      (all: number, line: { quantity: number; price: number }) => all + line.quantity * line.price,
      0,
    );
    expect(workbook.worksheets[2]!.getCell('B3').value).toBeCloseTo(sum * 1.2, 1);
    expect(workbook.worksheets[0]!.getCell('B1').value).toEqual(new Date('2026-11-21'));
  });
});
