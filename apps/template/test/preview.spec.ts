import { newId } from '@plinth/kernel/uuid';
import type { Caller } from '@plinth/kernel/caller';
import { aCaller, type TestClient } from '@plinth/testing/http';
import { published, saved, startTemplates, type Templates } from './start-templates';

let service: Templates;
let http: TestClient;
let caller: Caller;
beforeAll(async () => {
  service = await startTemplates();
});
beforeEach(() => {
  caller = aCaller({ userName: 'Ada Lovelace', tenantName: 'Analytical Engines' });
  http = service.as(caller);
});
afterAll(() => service.close());

const preview = async (template: { content: string; [more: string]: unknown }, body?: unknown) => {
  await saved(http, { name: 'a', ...template });
  return http.post('/templates/a/preview', body);
};

describe('POST /templates/{name}/preview', () => {
  it('renders the draft with the data of the request', async () => {
    const response = await preview(
      { content: '<h1>Hello {{ customer.name }}</h1>' },
      { data: { customer: { name: 'Grace' } } },
    );

    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      html: '<h1>Hello Grace</h1>',
      plainText: 'Hello Grace',
      revisionId: (await http.get('/templates/a')).body.draft.revisionId,
      renderTimeMs: expect.any(Number),
    });
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  });

  it.each([
    ['nothing', undefined],
    ['an empty body', ''],
    ['null', 'null'],
    ['an empty object', {}],
    ['null for each field', { culture: null, format: null, data: null }],
  ])('takes %s for no data', async (_, body) => {
    await saved(http, { name: 'a', content: 'Hello{{ name }}!' });

    const response = await http.post('/templates/a/preview', body, {
      headers: { 'content-type': 'application/json' },
    });

    expect(response.status).toBe(200);
    expect(response.body.html).toBe('Hello!');
  });

  it('renders a text that nobody saved, and saves nothing', async () => {
    await saved(http, { name: 'letter', content: '<p>{% block body %}stored{% endblock %}</p>' });
    const content = '{% extends "letter" %}{% block body %}{{ word }}{% endblock %}';
    const plain = { content: 'A {{ word }} & more', mimeType: 'text/plain', data: { word: 'text' } };

    const page = await http.post('/templates/new/preview', { content, data: { word: 'new' } });
    const instead = await http.post('/templates/letter/preview', plain);

    expect(page.body).toMatchObject({ html: '<p>new</p>', revisionId: '' });
    expect(instead.body.plainText).toBe('A text & more');
    expect((await http.get('/templates/new')).status).toBe(404);
    expect((await http.post('/templates/letter/preview')).body.html).toBe('<p>stored</p>');
  });

  it('leaves missing variables empty and lists them in headers', async () => {
    const { body, headers } = await preview({
      content: '[{{ a.b }}][{{ c | upper }}][{{ d | default("-") }}]',
    });

    expect(body.html).toBe('[][][-]');
    expect(headers.get('x-template-warnings')).toBe('2');
    expect(headers.get('x-template-missing-variables')).toBe('a.b, c');
  });

  it('lists as many whole names of missing variables as a header has room for, of long ones the beginning', async () => {
    const names = Array.from({ length: 60 }, (_, at) => `v${at}${'漢'.repeat(1_000)}`);
    const { headers } = await preview({ content: names.map((name) => `{{ ${name} }}`).join('') });

    expect(headers.get('x-template-warnings')).toBe('60');
    const listed = headers.get('x-template-missing-variables')!;
    expect(decodeURI(listed)).toBe(`v0${'漢'.repeat(198)}`);
  });

  it('renders the published revision where there is no draft', async () => {
    await published(http, { name: 'a', content: 'public' });

    expect((await http.post('/templates/a/preview')).body.html).toBe('public');
  });

  it('escapes values in HTML but not in text', async () => {
    const data = { x: `<b>"it's" & more</b>` };

    const page = await preview({ content: '<p title="{{ x }}">{{ x }}</p>' }, { data });
    await http.post('/templates', { name: 't', mimeType: 'text/plain', content: 'x: {{ x }}' });
    const text = await http.post('/templates/t/preview', { data });

    const escaped = '&lt;b&gt;&quot;it&#39;s&quot; &amp; more&lt;/b&gt;';
    expect(page.body.html).toBe(`<p title="${escaped}">${escaped}</p>`);
    expect(text.body.plainText).toBe(`x: ${data.x}`);
    expect(text.body.html).toBe(`x: ${escaped}`);
  });

  it('takes the subject from the first line, as one line of text', async () => {
    const content = '{# subject: Invoice {{ number }} for {{ name }} #}\n<p>Hi</p>';

    const { body } = await preview(
      { content },
      { data: { number: 7, name: 'A & B\r\nBcc: all@example.org' } },
    );

    expect(body.subject).toBe('Invoice 7 for A & B Bcc: all@example.org');
    expect(body.html).toBe('<p>Hi</p>');
  });

  it('finds the template of the culture, then its language, then none', async () => {
    await saved(http, { name: 'a', culture: 'fr', content: 'fr {{ culture }}' });
    await saved(http, { name: 'a', content: 'none {{ culture }}' });

    const rendered = async (culture?: string) =>
      (await http.post('/templates/a/preview', { culture })).body.html;

    expect(await rendered('fr-CA')).toBe('fr fr-CA');
    expect(await rendered('fr')).toBe('fr fr');
    expect(await rendered('de')).toBe('none de');
    expect(await rendered()).toBe('none en');
  });

  it('is 404 with the available cultures', async () => {
    await saved(http, { name: 'a', culture: 'fr' });

    const response = await http.post('/templates/a/preview', { culture: 'de' });

    expect(response.status).toBe(404);
    expect(response.body.availableCultures).toEqual(['fr']);
  });

  it('formats values in the language of the culture', async () => {
    const content =
      '{{ d | date("long") }} {{ n | number(1) }} {{ n | currency("EUR") }} {{ 0.5 | percent }}';
    await saved(http, { name: 'a', content });
    const data = { d: '2026-11-21', n: 1234.5 };

    const german = await http.post('/templates/a/preview', { culture: 'de', data });
    const english = await http.post('/templates/a/preview', { culture: 'en', data });

    expect(german.body.html.replace(/\u00a0/g, ' ')).toBe('21. November 2026 1.234,5 1.234,50 € 50 %');
    expect(english.body.html).toBe('November 21, 2026 1,234.5 €1,234.50 50%');
  });

  it('formats translations as messages, with values by place and by name', async () => {
    service.stubs.texts['fr'] = {
      'Order:lines': '{0, plural, one {# ligne} other {# lignes}} pour {name}, {due, date, long}',
    };

    const { body } = await preview(
      { content: '{{ t("Order:lines", n, name=name, due="2026-03-09") }}', mimeType: 'text/plain' },
      { culture: 'fr', data: { n: 1234, name: "l'Atelier" } },
    );

    expect(body.plainText).toBe("1\u202f234 lignes pour l'Atelier, 9 mars 2026");
  });

  it('renders global variables, settings and translations', async () => {
    service.stubs.settings.set(caller.tenantId, { 'Service.Mail.Sender': 'office@example.org' });
    service.stubs.texts['fr'] = { 'Invoice:total': 'Total de {0}' };
    const content =
      '{{ user.name }}/{{ tenant.name }}/{{ tenant.id }}/{{ settings.Service.Mail.Sender }}/{{ t("Invoice:total", 5) }}/{{ t("Invoice:" ~ "none") }}/{{ now | date("iso") }}';

    const today = () => new Date().toISOString().slice(0, 10);
    const before = today();
    const { body } = await preview({ content }, { culture: 'fr' });

    const rendered = (day: string) =>
      `Ada Lovelace/Analytical Engines/${caller.tenantId}/office@example.org/Total de 5/none/${day}`;
    expect([before, today()].map(rendered)).toContain(body.html);
  });

  it('includes, extends and imports templates of the tenant, by culture', async () => {
    await saved(http, {
      name: 'layout',
      content: '<main>{% block body %}empty{% endblock %}</main>{% include "footer" %}',
    });
    await saved(http, { name: 'footer', content: '(footer)' });
    await saved(http, { name: 'footer', culture: 'fr', content: '(pied)' });
    await saved(http, { name: 'macros', content: '{% macro row(x) %}<i>{{ x }}</i>{% endmacro %}' });
    const content =
      '{% extends "layout" %}{% from "macros" import row %}{% block body %}{{ row("<x>") }} {{ super() }}{% endblock %}';

    const { body } = await preview({ content }, { culture: 'fr-CA' });

    expect(body.html).toBe('<main><i>&lt;x&gt;</i> empty</main>(pied)');
  });

  it.each(['/etc/passwd', '../../etc/passwd', 'file:///etc/passwd', 'nothing', '__proto__', 'constructor'])(
    'finds no template of the name %s',
    async (name) => {
      const response = await preview({ content: `{% include ${JSON.stringify(name)} %}` });

      expect(response.status).toBe(422);
      expect(response.body.parseErrors[0]).toMatchObject({
        message: expect.stringContaining('There is no template'),
        line: 1,
      });
    },
  );

  it.each([
    ['many templates', 201, 'x', /at most 200 others/],
    ['long templates', 5, 'x'.repeat(900_000), /4000000 characters/],
  ])('includes only so %s', async (_, count, text, message) => {
    const names = Array.from({ length: count }, (_unused, at) => `part-${at}`);
    if (count < 10) for (const name of names) await saved(http, { name, content: text });
    const content = names.map((name) => `{% include "${name}" %}`).join('');

    const previewed = await preview({ content });
    const validated = await http.post('/templates/a/validate', { content });

    for (const { status, body } of [previewed, validated]) {
      expect({ status, type: body.type }).toEqual({
        status: 422,
        type: expect.stringMatching(/template-too-expensive$/),
      });
      expect(body.detail).toMatch(message);
    }
  });

  it('does not reach templates of other tenants', async () => {
    await saved(service.as(aCaller()), { name: 'secret', content: 'secret' });

    expect((await preview({ content: '{% include "secret" %}' })).status).toBe(422);
  });

  it.each(["it's", 'a\\b', "x' OR '1'='1", 'é"; DROP TABLE template; --'])(
    'takes the name %s for a name and nothing else',
    async (name) => {
      expect((await http.post(`/templates/${encodeURIComponent(name)}/preview`)).status).toBe(404);
      const { status } = await http.post('/templates', { name, content: 'found' });
      const { body } = await http.post(`/templates/${encodeURIComponent(name)}/preview`);
      expect(status === 201 ? body.html : 'found').toBe('found');
    },
  );

  it('reports the position of an error', async () => {
    const response = await preview({ content: 'line one\n  {{ user.name | shout }}' });

    expect(response.status).toBe(422);
    expect(response.body.type).toMatch(/template-does-not-parse$/);
    expect(response.body.parseErrors).toEqual([
      {
        message: 'There is no filter "shout".',
        line: 2,
        column: expect.any(Number),
        snippet: '  {{ user.name | shout }}',
      },
    ]);
  });

  it.each([
    ['format', { format: 7 }, 422],
    ['format', { format: 'Pdf' }, 400],
    ['culture', { culture: 'not a culture' }, 422],
    ['data', { data: [] }, 400],
    ['data', { data: 'x' }, 400],
  ])('refuses a wrong %s', async (_, body, status) => {
    expect((await preview({ content: 'x' }, body)).status).toBe(status);
  });

  it('writes Excel: a sheet for each table, typed cells, and no formula from data', async () => {
    const content = `<table data-sheet="Lines"><tr><th>Item</th><th>Price</th><th>On</th><th>Paid</th></tr>
      {% for line in lines %}<tr><td>{{ line.item }}</td><td data-type="number" data-format="0.00">{{ line.price }}</td>
      <td data-type="date">{{ line.on }}</td><td data-type="boolean">{{ line.paid }}</td></tr>{% endfor %}</table>
      <table data-sheet="Lines"><tr><td colspan="2">Total</td></tr></table>`;
    const data = {
      lines: [
        { item: '=HYPERLINK("http://evil")', price: 1234.5, on: '2026-11-21', paid: true },
        { on: '2026-02-30' },
      ],
    };
    await saved(http, { name: 'report', content });

    const { url, headers } = http.address('POST', '/templates/report/preview');
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ format: 2, data }),
    });

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('content-disposition')).toContain('filename="report.xlsx"');
    const { default: excel } = await import('exceljs');
    const workbook = new excel.Workbook();
    await workbook.xlsx.load(await response.arrayBuffer());
    expect(workbook.worksheets.map(({ name }) => name)).toEqual(['Lines', 'Lines (2)']);
    const row = workbook.worksheets[0]!.getRow(2);
    expect(row.getCell(1)).toMatchObject({
      value: '=HYPERLINK("http://evil")',
      type: excel.ValueType.String,
    });
    expect(row.getCell(2)).toMatchObject({ value: 1234.5, numFmt: '0.00' });
    expect(row.getCell(3).value).toEqual(new Date('2026-11-21'));
    expect(workbook.worksheets[0]!.getRow(3).getCell(3).value).toBe('2026-02-30');
    expect(row.getCell(4).value).toBe(true);
  });
});

describe('POST /templates/{name}/render', () => {
  it('renders the published revision, never a draft', async () => {
    await published(http, { name: 'a', content: 'public {{ x }}{% include "p" %}' });
    await published(http, { name: 'p', content: '(published)' });
    await http.put('/templates/a', { name: 'a', content: 'draft' });
    await http.put('/templates/p', { name: 'p', content: '(draft)' });

    const { status, body } = await http.post('/templates/a/render', { data: { x: 1 } });

    expect(status).toBe(200);
    expect(body.html).toBe('public 1(published)');
    expect((await http.post('/templates/none/render')).status).toBe(404);
    await saved(http, { name: 'only-draft' });
    expect((await http.post('/templates/only-draft/render')).status).toBe(409);
  });

  it('renders an earlier revision that was published', async () => {
    const first = await published(http, { name: 'a', content: 'one' });
    await http.put('/templates/a', { name: 'a', content: 'two' });
    await http.post('/templates/a/publish');
    const third = (await http.put('/templates/a', { name: 'a', content: 'three' })).body;

    const pinned = (revisionId: string) => http.post('/templates/a/render', { revisionId });

    expect((await pinned(first.draft.revisionId)).body.html).toBe('one');
    expect((await pinned(third.draft.revisionId)).status).toBe(409);
    expect((await pinned(newId())).status).toBe(404);
    expect((await pinned('x')).status).toBe(422);
  });
});

/** Counts the texts of more than a million characters that are written as JSON until its result is called. */
function countLargeJson(): () => number {
  let count = 0;
  const { stringify } = JSON;
  const spy = jest.spyOn(JSON, 'stringify').mockImplementation((...value: Parameters<typeof stringify>) => {
    const text = stringify(...value);
    if (text?.length > 1_000_000) count++;
    return text;
  });
  return () => {
    spy.mockRestore();
    return count;
  };
}

describe('POST /templates/{name}/render-batch', () => {
  it('refuses the items whose results would make the response too large, and renders the others', async () => {
    const http = service.as(aCaller());
    await published(http, {
      name: 'large',
      mimeType: 'text/html',
      content: '{% for i in range(1000) %}{{ row }}{% endfor %}',
    });
    const items = Array(6).fill({ data: { row: 'x'.repeat(2_500) } });
    const largeTexts = countLargeJson();
    const { status, body, text } = await http.post('/templates/large/render-batch', { items });
    // By the check of responses, which only tests have: everybody else in the process waits for a text that is large.
    expect(largeTexts()).toBe(1);
    expect(status).toBe(207);
    expect(body.successCount).toBe(3);
    expect(body.results.at(-1).error).toMatchObject({ status: 413 });
    expect(text.length).toBeLessThan(16 * 1024 * 1024);
  });

  it('renders each item by itself, in their order', async () => {
    await published(http, { name: 'a', content: '{{ 10 // n }}{{ f() if n == 0 }}' });

    const { status, body } = await http.post('/templates/a/render-batch', {
      items: [{ data: { n: 5 } }, { data: { n: 0 } }, { data: { n: 2 } }],
    });

    expect(status).toBe(207);
    expect(body).toMatchObject({ successCount: 2, failureCount: 1 });
    expect(body.results.map(({ value }: { value: { html: string } | null }) => value?.html)).toEqual([
      '2',
      undefined,
      '5',
    ]);
    expect(body.results[1]).toMatchObject({
      value: null,
      isSuccess: false,
      error: { status: 422, detail: expect.any(String) },
    });
  });

  it('accepts 1 to 500 items', async () => {
    await published(http, { name: 'a' });

    expect((await http.post('/templates/a/render-batch', { items: [] })).status).toBe(422);
    expect((await http.post('/templates/a/render-batch', { items: Array(501).fill({}) })).status).toBe(422);
    expect((await http.post('/templates/a/render-batch', {})).status).toBe(422);
    expect((await http.post('/templates/none/render-batch', { items: [{}] })).status).toBe(404);
  });
});

describe('GET /templates/{name}/variables', () => {
  it('finds variables in the template, its layout and its includes', async () => {
    await saved(http, {
      name: 'layout',
      content: '<title>{{ title }}</title>{% block body %}{% endblock %}',
    });
    const content = `{% extends "layout" %}{% block body %}{% for line in lines %}{{ line.text }} {{ line.price | currency("EUR") }}{% endfor %}
      {% if customer.isNew %}!{% endif %}{{ due | date }}{{ settings.Service.Mail.Sender }}{{ user.name }}{% for tag in tags %}{{ tag }}{% endfor %}{% endblock %}`;
    await saved(http, { name: 'a', content });

    const { status, body } = await http.get('/templates/a/variables');

    expect(status).toBe(200);
    expect(body.modelVariables).toEqual([
      { name: 'customer.isNew', type: 'boolean' },
      { name: 'due', type: 'date' },
      { name: 'lines[].price', type: 'number' },
      { name: 'lines[].text', type: 'string' },
      { name: 'tags', type: 'array' },
      { name: 'title', type: 'string' },
    ]);
    expect(body.globalVariables.map(({ name }: { name: string }) => name)).toEqual([
      'now',
      'culture',
      'tenant.id',
      'tenant.name',
      'user.id',
      'user.name',
    ]);
    expect(body.enrichedVariables).toEqual([{ name: 'settings.Service.Mail.Sender', type: 'string' }]);
  });
});

describe('POST /templates/{name}/validate', () => {
  it('validates a text, or the stored template, and saves nothing', async () => {
    await saved(http, { name: 'a', content: '{{ x }}' });

    const stored = await http.post('/templates/a/validate');
    const given = await http.post('/templates/a/validate', { content: 'a\n{% if %}' });

    expect(stored.body).toMatchObject({
      isValid: true,
      errors: [],
      variables: { modelVariables: [{ name: 'x', type: 'string' }] },
    });
    expect(given.body).toMatchObject({ isValid: false, errors: [{ line: 2, message: expect.any(String) }] });
    expect((await http.get('/templates/a/history')).body.totalCount).toBe(1);
  });
});
