import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { PrintResponse__Output } from '@plinth/proto/generated/plinth/pdf/v1/PrintResponse';
import { protoPackages } from '@plinth/proto/packages';
import { problemOfGrpc, serviceClient } from '@plinth/runtime/rpc/grpc';
import { eventually } from '@plinth/testing/eventually';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { aCaller, TEST_KEYS } from '@plinth/testing/http';
import { noiseImage } from '@plinth/testing/noise-image';
import { textOfPdf } from '@plinth/testing/pdf-text';
import { startPdfRenderer } from '@plinth/testing/start-pdf-renderer';

type Renderer = Awaited<ReturnType<typeof startPdfRenderer>>;

const clientOf = ({ address }: Renderer, keys: readonly string[] = TEST_KEYS) =>
  serviceClient('pdf-renderer', protoPackages.pdf.v1.PdfRenderer, address, keys);

/** Prints these parts of HTML, sent one by one. */
async function print(client: ReturnType<typeof clientOf>, parts: readonly string[], caller = aCaller()) {
  const call = client.client.Print(client.identity('Print', caller));
  call.write({ page: {} });
  const pdf: Buffer[] = [];
  try {
    for await (const response of call as AsyncIterable<PrintResponse__Output>) {
      if (response.begun) {
        for (const html of parts) call.write({ html: Buffer.from(html) });
        call.end();
      }
      if (response.pdf) pdf.push(response.pdf);
    }
  } catch (error) {
    throw problemOfGrpc(error as never, 'pdf-renderer');
  }
  return { text: textOfPdf(Buffer.concat(pdf)), parts: pdf.length };
}

const metric = async ({ adminUrl }: Renderer, name: string): Promise<number> => {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
};

describe('the PDF renderer', () => {
  let renderer: Renderer;
  let client: ReturnType<typeof clientOf>;
  beforeAll(async () => {
    renderer = await startPdfRenderer({ PDF_PAGES: '1', PDF_HTML_BYTES_MAX: '8000000' });
    client = clientOf(renderer);
  });
  afterAll(async () => {
    await client.close();
    await renderer.close();
  });

  it('is ready when its browser runs, and prints HTML that arrives in parts', async () => {
    const ready = await eventually(async () => {
      const response = await fetch(`${renderer.adminUrl}/readyz`);
      return response.status === 200 && response.json();
    });

    expect(ready).toMatchObject({ ready: true, parts: { chromium: 'up' } });
    expect(await print(client, ['<p>one ', 'Grüße</p>'])).toMatchObject({
      text: expect.stringMatching(/one\s+Grüße/),
    });
  });

  it('prints for nobody without a caller, or with one that was signed for other services', async () => {
    const foreign = clientOf(renderer, ['the-key-of-all-other-services']);
    await expect(print(foreign, ['x'])).rejects.toMatchObject({ kind: 'unauthenticated' });
    await expect(print(client, ['x'], null as never)).rejects.toMatchObject({ kind: 'forbidden' });
    await foreign.close();
  });

  it('refuses a document with more HTML than it may have', async () => {
    await expect(print(client, Array(9).fill('x'.repeat(1_000_000)))).rejects.toMatchObject({
      slug: 'template-too-expensive',
    });
  });

  it('prints documents and PDFs that are larger than a message may be', async () => {
    const image = noiseImage(1_240);
    const parts = [
      `<p>above</p><img width="200" src="${image.slice(0, 3_000_000)}`,
      `${image.slice(3_000_000)}">`,
    ];

    const printed = await print(client, parts);

    expect(printed.parts).toBeGreaterThan(16);
    expect(printed.text).toContain('above');
  });

  it('gives the place of a caller who cancels to the next one', async () => {
    const cancelled = client.client.Print(client.identity('Print', aCaller()));
    cancelled.on('error', () => undefined);
    cancelled.write({ page: {} });
    await new Promise((resolve) => cancelled.once('data', resolve));
    const next = print(client, ['<p>next</p>']);

    cancelled.cancel();

    expect((await next).text).toContain('next');
    await eventually(async () => (await metric(renderer, 'plinth_places_taken')) === 0);
  });
});

describe('a renderer that starts before Chromium is installed', () => {
  // The browser does not run as root.
  const cache = join(__dirname, '../../../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'chromium-'));
  chmodSync(folder, 0o755);
  const chromium = join(folder, 'chromium');
  let renderer: Renderer;
  let client: ReturnType<typeof clientOf>;

  beforeAll(async () => {
    renderer = await startPdfRenderer({ PUPPETEER_EXECUTABLE_PATH: chromium });
    client = clientOf(renderer);
  });
  afterAll(async () => {
    await client.close();
    await renderer.close();
    rmSync(folder, { recursive: true });
  });

  it('is not ready, responds 503, and prints as soon as there is one', async () => {
    expect((await fetch(`${renderer.adminUrl}/readyz`)).status).toBe(503);
    await expect(print(client, ['x'])).rejects.toMatchObject({
      kind: 'overloaded',
      detail: expect.stringContaining('Chromium is not installed'),
    });

    symlinkSync(findOrInstall('chromium')!, chromium);

    expect((await print(client, ['<p>later</p>'])).text).toContain('later');
  });
});
