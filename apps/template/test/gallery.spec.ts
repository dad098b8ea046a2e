import type { TemplateGalleryItem } from '@plinth/contracts/template/shapes';
import { aCaller, type TestClient } from '@plinth/testing/http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pagesOfPdf } from '@plinth/testing/pdf-text';
import { startPdfRenderer } from '@plinth/testing/start-pdf-renderer';
import { startTemplates, type Templates } from './start-templates';

let renderer: Awaited<ReturnType<typeof startPdfRenderer>>;
let service: Templates;
let http: TestClient;
beforeAll(async () => {
  renderer = await startPdfRenderer();
  service = await startTemplates({}, renderer.address);
  http = service.as(aCaller());
});
afterAll(async () => {
  await service.close();
  await renderer.close();
});

const PDF = 1;
/** A word that begins at the end of another, where only a style sheet breaks the line. */
const wordsRunTogether = /\p{Ll}(?:\p{Lu}\p{Ll}|[$£€\d])/u;
const folder = process.env['PLINTH_KEEP_DOCUMENTS'];

describe('GET /template-gallery', () => {
  it('lists ten templates in the language of the request, or in the nearest', async () => {
    const titles = async (culture: string) =>
      (await http.get(`/template-gallery?culture=${culture}`)).body.map(
        ({ title }: TemplateGalleryItem) => title,
      );

    expect(await titles('en')).toHaveLength(10);
    expect((await titles('fr')).slice(0, 2)).toEqual(['Facture', 'Confirmation de commande']);
    expect(await titles('fr-BE')).toEqual(await titles('fr'));
    expect(await titles('de')).toEqual(await titles('en'));
  });

  it('has nothing under other names', async () => {
    const { status, body } = await http.get('/template-gallery/none');

    expect(status).toBe(404);
    expect(body.type).toMatch(/gallery-template-not-found$/);
  });

  it.each(['en', 'en-GB', 'fr', 'fr-CA'])(
    'has templates in %s that need nothing but their sample data',
    async (culture) => {
      const items: TemplateGalleryItem[] = (await http.get(`/template-gallery?culture=${culture}`)).body;
      for (const { name } of items) {
        const { body } = await http.get(`/template-gallery/${name}?culture=${culture}`);
        expect(body.culture).toBe(culture);
        expect(JSON.stringify(body)).not.toMatch(/\[\[|\]\]|undefined/);

        const request = { culture, content: body.content, data: body.sampleData };
        const preview = await http.post(`/templates/${name}/preview`, request);
        expect([name, preview.status, preview.body.detail]).toEqual([name, 200, undefined]);
        expect(preview.headers.get('x-template-missing-variables')).toBeNull();
        expect(preview.body.subject).toMatch(/\w/);
        expect(preview.body.plainText).not.toMatch(wordsRunTogether);
        if (folder) writeFileSync(join(folder, `${name}.${culture}.html`), preview.body.html);
      }
    },
  );

  it('has taxes and paper of the place where a language is spoken', async () => {
    const preview = async (culture: string) => {
      const { content, sampleData } = (await http.get(`/template-gallery/invoice?culture=${culture}`)).body;
      const request = { culture, content, data: sampleData };
      return { content, text: (await http.post('/templates/invoice/preview', request)).body.plainText };
    };

    const american = await preview('en');
    expect(american.content).toContain('{# page: Letter #}');
    expect(american.text).toMatch(/Sales tax \(6\.35%\)\s+\$300\.67/);
    const french = await preview('fr');
    expect(french.content).toContain('{# page: A4 #}');
    expect(french.text).toMatch(/TVA \(20\s%\)\s+947,00\s€\s+Total TTC/);
    expect((await preview('fr-CA')).text).toMatch(/TPS et TVQ \(14,975\s%\)\s+709,07\s\$/);
  });

  it.each(['en', 'en-GB', 'fr', 'fr-CA'])('has templates in %s that print as one page', async (culture) => {
    const items: TemplateGalleryItem[] = (await http.get('/template-gallery')).body;
    const printed = items.filter(({ formats }) => formats.includes(PDF));
    expect(printed.length).toBeGreaterThan(7);
    for (const { name } of printed) {
      const { content, sampleData } = (await http.get(`/template-gallery/${name}?culture=${culture}`)).body;
      const body = JSON.stringify({ culture, format: PDF, content, data: sampleData });
      const { url, headers } = http.address('POST', `/templates/${name}/preview`);
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      });
      const pdf = Buffer.from(await response.arrayBuffer());
      expect([name, response.status, pagesOfPdf(pdf)]).toEqual([name, 200, 1]);
      if (folder) writeFileSync(join(folder, `${name}.${culture}.pdf`), pdf);
    }
  });
});
