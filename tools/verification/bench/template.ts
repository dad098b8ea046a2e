import { existsSync } from 'node:fs';
import nunjucks from 'nunjucks';
import { launch } from 'puppeteer-core';
import { request } from 'undici';
import type { BenchLine } from './bench-line.ts';

/** After a hundred requests much of the code is still interpreted; in a service that has run for a while it is compiled. */
const WARM_UP = 3_000;
const MEASURED = 1_000;
const DOCUMENTS = 40;
const CONCURRENT = 50;
const HTML_EXTRA_MILLISECONDS_MAX = 5;

/** A page of about 10 kB with what templates usually do. */
const ROWS = 60;
const page = `<!doctype html><html><head><title>{{ title }}</title><style>${'p { margin: 0 } '.repeat(60)}</style></head><body>
<h1>{{ title | upper }}</h1>{% macro cell(value) %}<td>{{ value }}</td>{% endmacro %}
${'<p>Dear {{ customer.name }}, thank you for your order of {{ lines | length }} things.</p>\n'.repeat(105)}
<table>{% for line in lines %}<tr class="{{ "odd" if loop.index is odd else "even" }}">{{ cell(line.text) }}{{ cell(line.price * line.quantity) }}</tr>{% endfor %}</table></body></html>`;
const data = {
  title: 'Order',
  customer: { name: 'Ada & Co' },
  lines: Array.from({ length: ROWS }, (_, index) => ({
    text: `Line <${index}>`,
    price: 12.5,
    quantity: index,
  })),
};
const sheet = `<!doctype html><meta charset="utf-8"><h1>One page</h1>${'<p>Some words that fill a line of the page, and some more.</p>'.repeat(25)}`;
const bomb = '{% for i in range(99999) %}{% set x = range(40000) %}{% endfor %}';

/** Previews and documents of templates through the gateway, compared with the libraries alone. */
export async function benchTemplate({ url }: { url: string }): Promise<BenchLine[]> {
  // Together the renderings of both waves are more than one user may have waiting.
  const [author, other] = [await signInAsAuthor(url), await signInAsAuthor(url)];
  await author.save('bench-sheet', sheet);
  await author.save('bench-bomb', bomb);
  for (const { save } of [author, other]) await save('bench-page', page);
  const previewPage = (from = author) => from.preview('bench-page', { data });
  return [
    await htmlLine(previewPage),
    ...(await pdfLines(() => author.preview('bench-sheet', { format: 1 }))),
    await bombLine([previewPage, () => previewPage(other)], () => author.preview('bench-bomb', {}, 422)),
  ];
}

interface Author {
  save(name: string, content: string): Promise<void>;
  preview(name: string, body: object, expected?: number): Promise<void>;
}

/** Signs in to a tenant of its own. */
async function signInAsAuthor(url: string): Promise<Author> {
  const headers = await signIn(url);
  const save = async (name: string, content: string) => {
    const body = JSON.stringify({ name, content });
    const { status } = await fetch(`${url}/api/v1/templates/${name}`, { method: 'PUT', headers, body });
    if (status !== 200 && status !== 201) throw new Error(`The template ${name} was not saved: ${status}.`);
  };
  const preview = async (name: string, body: object, expected = 200) => {
    const address = `${url}/api/v1/templates/${name}/preview`;
    // The time of the client does not count, and `fetch` takes half a millisecond more than undici's `request`.
    const response = await request(address, { method: 'POST', headers, body: JSON.stringify(body) });
    await response.body.arrayBuffer();
    if (response.statusCode !== expected)
      throw new Error(`The preview of ${name}: ${response.statusCode} instead of ${expected}.`);
  };
  return { save, preview };
}

async function htmlLine(preview: () => Promise<void>): Promise<BenchLine> {
  const environment = new nunjucks.Environment(null, { autoescape: true });
  const compiled = new nunjucks.Template(page, environment, 'page', true);
  const plain = async () => void compiled.render(data);
  const times = await inTurns({ preview, plain }, WARM_UP, MEASURED);
  const extra = median(times.preview) - median(times.plain);
  return {
    job: `HTML preview of a ${Math.round(page.length / 1024)} kB template, p50 above plain nunjucks, in parts of ${HTML_EXTRA_MILLISECONDS_MAX} ms`,
    measured: `${median(times.preview).toFixed(2)} ms`,
    reference: `nunjucks in process ${median(times.plain).toFixed(2)} ms`,
    ratio: extra / HTML_EXTRA_MILLISECONDS_MAX,
    goal: 1,
  };
}

async function pdfLines(print: () => Promise<void>): Promise<BenchLine[]> {
  const executablePath = process.env['PUPPETEER_EXECUTABLE_PATH'] ?? '/usr/bin/chromium';
  if (!existsSync(executablePath))
    return [{ job: 'PDF of one page, warm', measured: 'no Chromium here', reference: '' }];
  // The reference prints our own page only; Chromium refuses to start as root with its sandbox.
  const browser = await launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
  try {
    const tab = await browser.newPage();
    await tab.setContent(sheet);
    const pdf = async () => void (await tab.pdf({ format: 'A4' }));
    const load = async () => {
      await tab.setContent(sheet);
      await tab.pdf({ format: 'A4' });
    };
    const times = await inTurns({ print, pdf, load }, 5, DOCUMENTS);
    const measured = `${median(times.print).toFixed(1)} ms`;
    return [
      {
        job: 'PDF of one page, warm, beside page.setContent() and page.pdf()',
        measured,
        reference: `puppeteer ${median(times.load).toFixed(1)} ms`,
        ratio: median(times.print) / median(times.load),
        goal: 1.3,
      },
      {
        job: 'PDF of one page, warm, beside page.pdf() of a page that is loaded already',
        measured,
        reference: `puppeteer ${median(times.pdf).toFixed(1)} ms`,
        ratio: median(times.print) / median(times.pdf),
      },
    ];
  } finally {
    await browser.close();
  }
}

async function bombLine(
  previews: readonly (() => Promise<void>)[],
  explode: () => Promise<void>,
): Promise<BenchLine> {
  const wave = async (preview: () => Promise<void>) =>
    p99((await Promise.all(Array.from({ length: CONCURRENT }, () => timeOf(preview)))).sort(ascending));
  const waves = async () => (await Promise.all(previews.map(wave))).sort(ascending);
  const p99 = (times: number[]) => times[Math.floor(times.length * 0.99)]!;
  await waves();
  const quiet = await waves();
  const exploding = explode();
  const disturbed = await waves();
  await exploding;
  return {
    job: `p99 of ${CONCURRENT} previews at once in each of two tenants while a bomb runs`,
    measured: `${disturbed[0]!.toFixed(0)} ms`,
    reference: `without the bomb ${quiet[0]!.toFixed(0)} ms`,
    ratio: disturbed[0]! / quiet[0]!,
    goal: 2,
  };
}

async function signIn(url: string): Promise<Record<string, string>> {
  const body = JSON.stringify({
    sub: 'bench',
    name: 'Bench',
    tenantId: crypto.randomUUID(),
    roles: ['admin'],
  });
  const response = await fetch(`${url}/dev/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const { accessToken } = (await response.json()) as { accessToken: string };
  return { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
}

/** The candidates alternate, so that load on the machine affects all of them. */
async function inTurns<Name extends string>(
  candidates: Record<Name, () => Promise<void>>,
  warmUp: number,
  measured: number,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(candidates) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let count = 0; count < warmUp + measured; count++) {
    for (const name of names) {
      const time = await timeOf(candidates[name]);
      if (count >= warmUp) times[name].push(time);
    }
  }
  return times;
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const ascending = (a: number, b: number): number => a - b;

const median = (times: number[]): number => times.toSorted(ascending)[Math.floor(times.length / 2)]!;
