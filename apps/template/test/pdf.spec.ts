import { aCaller, type TestClient } from '@plinth/testing/http';
import { eventually } from '@plinth/testing/eventually';
import { freePort } from '@plinth/testing/free-port';
import { noiseImage } from '@plinth/testing/noise-image';
import { pagesOfPdf, textOfPdf } from '@plinth/testing/pdf-text';
import { startPdfRenderer } from '@plinth/testing/start-pdf-renderer';
import { published, saved, startTemplates, type Templates } from './start-templates';

describe('a template rendered as PDF over HTTP', () => {
  let renderer: Awaited<ReturnType<typeof startPdfRenderer>>;
  let service: Templates;
  let http: TestClient;
  beforeAll(async () => {
    renderer = await startPdfRenderer();
    service = await startTemplates({}, renderer.address);
  });
  beforeEach(() => {
    http = service.as(aCaller());
  });
  afterAll(async () => {
    await service.close();
    await renderer.close();
  });

  const pdfOf = async (path: string, body: object, accept?: string) => {
    const { url, headers } = http.address('POST', path);
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', ...(accept ? { accept } : {}) },
      body: JSON.stringify(body),
    });
    return { response, pdf: Buffer.from(await response.arrayBuffer()) };
  };

  it('is a file with a name, as an octet stream unless its own type is accepted', async () => {
    await published(http, { name: 'offer', content: '<h1>Offer for {{ name }}</h1>' });

    const { response, pdf } = await pdfOf('/templates/offer/preview', {
      format: 1,
      data: { name: 'Grace Hopper' },
    });
    const typed = await pdfOf('/templates/offer/render', { format: 1 }, 'application/pdf');

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('content-disposition')).toContain('filename="offer.pdf"');
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    expect(textOfPdf(pdf)).toContain('Offer for Grace Hopper');
    expect(typed.response.headers.get('content-type')).toBe('application/pdf');
  });

  it('has the page, margins, header and footer of its front matter', async () => {
    const content = `{# page: A5 landscape #}\n{# margin: 20mm #}\n{# header: {{ title }} #}\n{# footer: Page {page} of {pages} #}\n{# file: {{ title }} 1 #}
      {% for i in range(3) %}<p style="break-after: page">Sheet {{ i }}</p>{% endfor %}`;
    await saved(http, { name: 'a', content });

    const { response, pdf } = await pdfOf('/templates/a/preview', { format: 1, data: { title: 'Report' } });

    expect(response.headers.get('content-disposition')).toContain('filename="Report 1.pdf"');
    expect(pagesOfPdf(pdf)).toBeGreaterThanOrEqual(3);
    expect(textOfPdf(pdf)).toMatch(/Report\s+Page\s+1\s+of\s+[34]\s/);
    const [, width, height] = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/
      .exec(pdf.toString('latin1'))!
      .map(Number);
    expect(width! / height!).toBeCloseTo(210 / 148, 1);
  });

  it('is rendered in a batch, too', async () => {
    await published(http, { name: 'a', content: 'For {{ name }}' });

    const { body } = await http.post('/templates/a/render-batch', {
      format: 1,
      items: [{ data: { name: 'Ada' } }],
    });

    const { file } = body.results[0].value;
    expect(file).toMatchObject({ name: 'a.pdf', mimeType: 'application/pdf' });
    expect(textOfPdf(Buffer.from(file.contentBase64, 'base64'))).toContain('For Ada');
  });

  it('passes as it is when it comes in many parts', async () => {
    await saved(http, { name: 'a', content: `<img src="${noiseImage(400)}"><p>below</p>` });

    const { response, pdf } = await pdfOf('/templates/a/preview', { format: 1 });

    expect(response.status).toBe(200);
    expect(pdf.length).toBeGreaterThan(480_000);
    expect(textOfPdf(pdf)).toContain('below');
  });

  it('is 503 while the renderer is not there, with the service ready, and there again with the renderer', async () => {
    const gone = await `127.0.0.1:${await freePort()}`;
    const own = await startTemplates({}, gone);
    const client = own.as(aCaller());
    await saved(client, { name: 'a', content: '<p>Hello</p>' });

    const { status, headers, body } = await client.post('/templates/a/preview', { format: 1 });

    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('5');
    expect(body.detail).toBe('The service pdf-renderer is unavailable; try again.');
    expect(await own.health.readiness()).toMatchObject({ ready: true });
    expect((await client.post('/templates/a/preview', {})).status).toBe(200);

    const late = await startPdfRenderer({ GRPC_PORT: gone.split(':')[1]! });
    await eventually(async () => (await client.post('/templates/a/preview', { format: 1 })).status === 200);
    await late.close();
    await own.close();
  });

  it('prints again after the renderer was killed', async () => {
    await saved(http, { name: 'a', content: '<p>Hello</p>' });
    await renderer.close();
    expect((await http.post('/templates/a/preview', { format: 1 })).status).toBe(503);

    renderer = await startPdfRenderer({ GRPC_PORT: renderer.address.split(':')[1]! });

    await eventually(async () => (await http.post('/templates/a/preview', { format: 1 })).status === 200);
  });
});
