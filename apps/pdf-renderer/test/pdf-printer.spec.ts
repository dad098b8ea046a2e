import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { silentLog } from '@plinth/runtime/process/log';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { eventually } from '@plinth/testing/eventually';
import { noiseImage } from '@plinth/testing/noise-image';
import { textOfPdf } from '@plinth/testing/pdf-text';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { createMetrics } from '@plinth/runtime/process/health';
import { findChromium } from '../src/print/chromium';
import type { PageSetup } from '../src/print/page-setup';
import { pdfPrinter, type PdfOptions } from '../src/print/pdf-printer';

const chromium = findChromium({ executable: findOrInstall('chromium'), isProduction: false }, silentLog());

const DOCUMENTS = Number(process.env['PLINTH_TEST_DOCUMENTS'] ?? 12);
const MILLISECONDS_MAX = 300_000 + DOCUMENTS * 5_000;

const defaults: PdfOptions = {
  pages: 2,
  queueMax: 100,
  documentsPerBrowser: 200,
  // A machine may be busy with other things.
  millisecondsMax: 120_000,
  bytesMax: 10_000_000,
  megabytesMax: 768,
};

function printer(options: Partial<PdfOptions> = {}, from = chromium) {
  const metrics = createMetrics('pdf-renderer');
  const { inTurn, close, refuseWaiting } = pdfPrinter(
    () => from,
    { ...defaults, ...options },
    silentLog(),
    metrics,
  );
  const never = new AbortController().signal;
  return {
    print: (owner: ShareOwner, html: string, page: PageSetup, signal = never) =>
      inTurn(owner, signal, (print) => print(html, page)),
    /** How many browsers were started. */
    browsers: async () =>
      (await metrics.getSingleMetric('plinth_pdf_browsers_total')!.get()).values[0]!.value,
    refuseWaiting,
    close,
  };
}

/** Processes below this one whose command line holds the words. */
const descendants = (words: string): { pid: string; args: string }[] => {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).trim().split('\n');
  const processes = rows
    .map((row) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row)!)
    .map(([, pid, parent, args]) => ({ pid: pid!, parent: parent!, args: args! }));
  const below = (pid: string): typeof processes =>
    processes.filter(({ parent }) => parent === pid).flatMap((one) => [one, ...below(one.pid)]);
  return below(String(process.pid)).filter(({ args }) => args.includes(words));
};

/** Empty where the system shows it to nobody. */
const environmentOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
};

beforeAll(() => {
  if (!chromium)
    throw new Error(
      'Chromium is not here, and these promises are about what it prints: install it, or set PUPPETEER_EXECUTABLE_PATH.',
    );
});

const ada = { tenantId: 'tenant', userId: 'ada' };

/** One of these has room in the memory beside an idle browser, and two have not. */
const LARGE = 'word '.repeat(400_000);
const TOGETHER_MEGABYTES_MAX = 800;

describe('the PDF printer', () => {
  let printing: ReturnType<typeof printer>;
  let folder: string;
  let listener: Server;
  let connections = 0;
  let url: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'canary-'));
    writeFileSync(join(folder, 'canary.txt'), 'canary4711');
    listener = createServer((_, response) => response.end('canary4711')).on(
      'connection',
      () => connections++,
    );
    await new Promise<void>((resolve) => listener.listen(0, resolve));
    url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    process.env['PLINTH_CANARY'] = 'canary4711';
    printing = printer();
  });
  afterAll(async () => {
    await printing.close();
    delete process.env['PLINTH_CANARY'];
    listener.close();
    rmSync(folder, { recursive: true });
  });

  it('loads no file and no address that a document refers to', async () => {
    const places = [
      url,
      url.replace('127.0.0.1', 'localhost'),
      url.replace('127.0.0.1', '[::1]'),
      url.replace('127.0.0.1', '2130706433'),
      'http://169.254.169.254/latest',
      `file://${folder}/canary.txt`,
      'view-source:file:///etc/passwd',
      'chrome://version',
      '\\\\host\\share\\x',
    ];
    const asking = (
      place: string,
    ) => `<link rel="stylesheet" href="${place}"><link rel="preload" as="fetch" href="${place}"><link rel="prefetch" href="${place}">
      <img src="${place}"><iframe src="${place}"></iframe><iframe srcdoc='<img src="${place}">'></iframe><object data="${place}"></object><embed src="${place}">
      <video src="${place}" poster="${place}"></video><svg><image href="${place}"/><use href="${place}#x"/></svg><form action="${place}"><input type="image" src="${place}"></form>
      <style>@import url("${place}"); @font-face { font-family: f; src: url("${place}") } p { background: url("${place}"); font-family: f } </style>
      <script>fetch("${place}"); new Image().src = "${place}"; location = "${place}"</script><body background="${place}"><p>text</p><a href="${place}" ping="${place}">x</a>`;
    for (const place of places) {
      const pdf = await printing.print(ada, `<h1>Printed</h1>${asking(place)}`, {});
      expect(textOfPdf(pdf)).toContain('Printed');
      expect(textOfPdf(pdf)).not.toMatch(/canary4711|root:/);
    }
    for (const refresh of [
      `<meta http-equiv="refresh" content="0;url=${url}">`,
      `<base href="${url}"><img src="x">`,
    ]) {
      await printing.print(ada, `${refresh}<h1>Printed</h1>`, {});
    }
    expect(connections).toBe(0);
  });

  it('runs no script of a document', async () => {
    const html = `<p id="x">before</p><script>document.getElementById('x').textContent = 'after'</script>
      <img src="data:," onerror="document.getElementById('x').textContent = 'after'"><noscript>no script here</noscript>`;

    const text = textOfPdf(await printing.print(ada, html, {}));

    expect(text).toContain('before');
    expect(text).toContain('no script here');
    expect(text).not.toContain('after');
  });

  it('keeps the sandbox of Chromium, without the environment of the service', async () => {
    await printing.print(ada, 'x', {});

    const processes = descendants('--type=renderer').concat(descendants('--headless'));

    expect(processes.length).toBeGreaterThan(0);
    const commands = processes.map(({ args }) => args).join('\n');
    if (chromium!.isolation === 'sealed') expect(commands).not.toContain('--no-sandbox');
    expect(commands + processes.map(({ pid }) => environmentOf(pid)).join('\n')).not.toContain('canary4711');
  });

  it('prints the scripts of the world', async () => {
    const words = ['Grüße', 'Ελληνικά', 'Кириллица', '中文', '日本語', '한국어', '😀'];
    const fromRightToLeft = ['עברית', 'العربية'];
    const page = [...words, ...fromRightToLeft].map((word) => `<p>${word}</p>`).join('');

    const pdf = await printing.print(ada, `<meta charset="utf-8">${page}`, {});

    // Arabic is painted in the shapes that its letters take in a word.
    const text = textOfPdf(pdf).normalize('NFKC');
    for (const word of words) expect(text).toContain(word);
    for (const word of fromRightToLeft) expect(text).toContain([...word].reverse().join(''));
  });

  it('cancels a document that takes too long, and prints the next one with the same browser', async () => {
    const hasty = printer({ millisecondsMax: 4_000 });
    // On a busy machine the first one takes too long too.
    await eventually(() => hasty.print(ada, 'warm', {}));

    const endless = `<table>${'<tr><td>x</td><td>y</td></tr>'.repeat(600_000)}</table>`;
    await expect(hasty.print(ada, endless, {})).rejects.toMatchObject({
      kind: 'invalid',
      slug: 'template-too-expensive',
    });

    const patient = await eventually(() => hasty.print(ada, 'next', {}));
    expect(textOfPdf(patient)).toContain('next');
    expect(await hasty.browsers()).toBe(1);
    await hasty.close();
  });

  it('refuses a document of very many frames, which all pages of the browser wait for', async () => {
    const frames = (count: number) => '<iframe srcdoc="<p>inside"></iframe>'.repeat(count);
    expect(textOfPdf(await printing.print(ada, frames(10), {}))).toContain('inside');
    await expect(printing.print(ada, frames(11), {})).rejects.toMatchObject({
      slug: 'template-too-expensive',
      detail: 'A document has at most 10 frames.',
    });
  });

  it('refuses a document that takes more memory than the browser may have, and prints others', async () => {
    const own = printer({ megabytesMax: 650 });
    await own.print(ada, 'warm', {});

    const large = own.print(ada, 'word '.repeat(1_900_000), {});
    const beside = own.print({ tenantId: 'other', userId: 'bob' }, 'beside', {});

    await expect(large).rejects.toMatchObject({
      slug: 'template-too-expensive',
      detail: expect.stringContaining('memory'),
    });
    expect(textOfPdf(await beside)).toContain('beside');
    expect(textOfPdf(await own.print(ada, 'next', {}))).toContain('next');
    await own.close();
  });

  it('prints documents of which each has room alone, although together they take more memory than they may', async () => {
    const own = printer({ megabytesMax: TOGETHER_MEGABYTES_MAX });
    const tenants = ['one', 'two'].map((tenantId) => ({ tenantId, userId: 'ada' }));

    const printed = await Promise.all(
      tenants.map((tenant) => own.print(tenant, `${tenant.tenantId} ${LARGE}`, {})),
    );

    for (const [index, { tenantId }] of tenants.entries())
      expect(textOfPdf(printed[index]!)).toContain(tenantId);
    await own.close();
  });

  it('prints the next document of a tenant whose former one was taken out of memory for another', async () => {
    const own = printer({ megabytesMax: TOGETHER_MEGABYTES_MAX });
    const other = { tenantId: 'other', userId: 'ada' };
    await own.print(ada, LARGE, {});
    await own.print(other, LARGE, {});

    for (const owner of [ada, other]) expect(textOfPdf(await own.print(owner, 'next', {}))).toContain('next');
    await own.close();
  });

  it('stops a document that was given up, and prints the next one in its place with the same browser', async () => {
    const own = printer({ pages: 1 });
    await own.print(ada, 'warm', {});
    const abort = new AbortController();
    const long = `<table>${'<tr><td>x</td><td>y</td></tr>'.repeat(60_000)}</table>`;
    const givenUp = own.print(ada, long, {}, abort.signal);
    setTimeout(() => abort.abort(new Error('the client is gone')), 200);

    await expect(givenUp).rejects.toThrow('the client is gone');

    expect(textOfPdf(await own.print(ada, 'next', {}))).toContain('next');
    expect(await own.browsers()).toBe(1);
    await own.close();
  });

  it('prints with another browser once the last one was closed because it had nothing to print', async () => {
    const browsers: Browser[] = [];
    const launch = async () => {
      browsers.push(await chromium!.launch());
      return browsers.at(-1)!;
    };
    const own = printer({ idleMilliseconds: 1 }, { ...chromium!, launch });
    await own.print(ada, 'first', {});
    await eventually(() => !browsers[0]!.connected);

    expect(textOfPdf(await own.print(ada, 'second', {}))).toContain('second');

    expect(browsers).toHaveLength(2);
    await own.close();
  });

  it('goes on where a browser that is closed ends with commands that it has not read', async () => {
    const closed = await chromium!.launch();
    const pipes = closed.process()!.stdio.slice(3);
    await closed.close();

    expect(pipes).toHaveLength(2);
    // Without a listener it is an error of the process.
    for (const pipe of pipes) pipe!.emit('error', new Error('read ECONNRESET'));
  });

  it('prints on while the browser that replaces it starts', async () => {
    const next = Promise.withResolvers<Browser>();
    const launches = [chromium!.launch, () => next.promise];
    const own = printer({ documentsPerBrowser: 1 }, { ...chromium!, launch: () => launches.shift()!() });
    await own.print(ada, 'the last of the first browser', {});

    expect(textOfPdf(await own.print(ada, 'one more', {}))).toContain('one more');

    next.resolve(await chromium!.launch());
    await own.close();
  });

  it('prints on with its browser where the one that would replace it does not start', async () => {
    const launches = [chromium!.launch];
    const fail = () => Promise.reject(new Error('There is no memory for a browser.'));
    const own = printer(
      { documentsPerBrowser: 1 },
      { ...chromium!, launch: () => (launches.shift() ?? fail)() },
    );

    for (const text of ['first', 'second', 'third'])
      expect(textOfPdf(await own.print(ada, text, {}))).toContain(text);

    expect(await own.browsers()).toBe(1);
    await own.close();
  });

  it('gives back what waits for a place when it stops, and prints what has begun', async () => {
    const own = printer({ pages: 1 });
    const begun = own.print(ada, 'begun', {});
    const waiting = own.print(ada, 'waiting', {});
    own.refuseWaiting();

    await expect(waiting).rejects.toMatchObject({ kind: 'overloaded' });
    await expect(own.print(ada, 'later', {})).rejects.toMatchObject({ kind: 'overloaded' });
    expect(textOfPdf(await begun)).toContain('begun');
    await own.close();
  });

  it('refuses a PDF with more bytes than it may have, and holds no more of it', async () => {
    const own = printer({ bytesMax: 50_000 });

    await expect(own.print(ada, `<img src="${noiseImage(200)}">`, {})).rejects.toMatchObject({
      slug: 'template-too-expensive',
      detail: 'The PDF has more than 50000 bytes.',
    });

    expect(textOfPdf(await own.print(ada, 'small', {}))).toContain('small');
    await own.close();
  });

  it('refuses documents with Retry-After when too many wait', async () => {
    const small = printer({ pages: 1, queueMax: 2 });
    await small.print(ada, 'warm', {});

    const results = await Promise.allSettled(
      Array.from({ length: 6 }, () => small.print(ada, '<p>x</p>'.repeat(2_000), {})),
    );
    await small.close();

    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refused).toHaveLength(4);
    expect(refused[0]).toMatchObject({
      slug: 'share-used-up',
      options: { retryAfterSeconds: expect.any(Number) },
    });
  });

  it('prints for another tenant at once, while one waits with as many documents as it can', async () => {
    const own = printer({ pages: 3, queueMax: 60 });
    const printed: string[] = [];
    const all = Array.from({ length: 12 }, (_, index) =>
      own.print(ada, '<p>x</p>'.repeat(600), {}).then(() => printed.push(`ada-${index}`)),
    );
    const bob = own.print({ tenantId: 'globex', userId: 'bob' }, 'short', {}).then(() => printed.push('bob'));
    await Promise.all([...all, bob]);
    await own.close();
    expect(printed.indexOf('bob')).toBeLessThan(4);
  });

  it(
    'replaces its browser again and again, and leaves no process behind',
    async () => {
      const own = printer({ documentsPerBrowser: Math.max(4, DOCUMENTS / 10), queueMax: 4 * DOCUMENTS });

      const printed = await Promise.all(
        Array.from({ length: DOCUMENTS }, (_, index) =>
          own.print({ tenantId: `tenant-${index % 3}`, userId: 'ada' }, `<p>Document ${index}</p>`, {}),
        ),
      );
      await own.close();

      expect(printed.map((pdf, index) => textOfPdf(pdf).includes(`Document ${index}`))).not.toContain(false);
      await printing.close();
      await eventually(() => descendants('chrom').length === 0);
    },
    MILLISECONDS_MAX,
  );
});
