import { silentLog } from '@plinth/runtime/process/log';
import { createMetrics } from '@plinth/runtime/process/health';
import type { Chromium } from './chromium';
import { pdfPrinter } from './pdf-printer';

const limits = { millisecondsMax: 1_000, bytesMax: 1_000, megabytesMax: 1_000 };
const options = { pages: 3, queueMax: 10, documentsPerBrowser: 9, ...limits };

describe('the places of a printer', () => {
  it('are two for a tenant alone, and one beside another that has just printed', async () => {
    const { inTurn } = pdfPrinter(() => undefined, options, silentLog(), createMetrics('pdf-renderer'));
    const printing: Record<string, number> = {};
    const begin = (tenantId: string, until: Promise<void>) =>
      inTurn({ tenantId, userId: 'x' }, new AbortController().signal, async () => {
        printing[tenantId] = (printing[tenantId] ?? 0) + 1;
        await until;
      });
    const ended = Promise.withResolvers<void>();
    const first = [1, 2, 3].map(() => begin('alone', ended.promise));
    expect(printing).toEqual({ alone: 2 });
    ended.resolve();
    await Promise.all(first);

    for (let document = 1; document <= 3; document++) void begin('beside', new Promise(() => {}));
    expect(printing).toEqual({ alone: 3, beside: 1 });
  });
});

/** A browser that prints what its pages let be written into them. */
function aBrowser(
  written: (html: string) => Promise<void> = async () => undefined,
  closeTab: () => Promise<void> = async () => undefined,
) {
  const page = {
    once: () => undefined,
    on: () => undefined,
    off: () => undefined,
    setJavaScriptEnabled: async () => undefined,
    createCDPSession: async () => ({ send: async () => undefined, on: () => undefined }),
    goto: async () => undefined,
    url: () => 'http://document.invalid/',
    setContent: written,
    createPDFStream: async () => ReadableStream.from([Buffer.from('a PDF')]),
  };
  const context = { newPage: async () => page, close: closeTab };
  return {
    once: () => undefined,
    process: () => null,
    createBrowserContext: async () => context,
    close: jest.fn(async () => undefined),
  };
}

describe('the browser of a printer', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const ada = { tenantId: 'acme', userId: 'ada' };
  const bob = { tenantId: 'globex', userId: 'bob' };
  const never = new AbortController().signal;

  function startPrinter(launch: () => Promise<unknown>, own: Partial<typeof options> = {}) {
    const chromium = { isolation: 'sealed', launch } as Chromium;
    const metrics = createMetrics('pdf-renderer');
    const printer = pdfPrinter(() => chromium, { ...options, ...own }, silentLog(), metrics);
    return {
      warm: printer.warm,
      print: (owner: typeof ada, html = 'x') =>
        printer.inTurn(owner, never, async (print) => String(await print(html, {}))),
    };
  }

  it('is closed two minutes after its last document; the next one begins another, and readiness none', async () => {
    const browsers = [aBrowser(), aBrowser()] as const;
    const starting = [...browsers];
    const launch = jest.fn(async () => starting.shift());
    const { warm, print } = startPrinter(launch);
    await warm();
    await jest.advanceTimersByTimeAsync(100_000);
    await print(ada);
    await jest.advanceTimersByTimeAsync(119_999);
    expect(browsers[0].close).not.toHaveBeenCalled();

    await jest.advanceTimersByTimeAsync(1);
    await warm();

    expect(browsers[0].close).toHaveBeenCalledTimes(1);
    expect(launch).toHaveBeenCalledTimes(1);
    expect(await print(ada)).toBe('a PDF');
    expect(browsers[1].close).not.toHaveBeenCalled();
  });

  it('is not ready once it does not start again, until it does', async () => {
    let isBroken = false;
    const launch = jest.fn(async () => {
      if (isBroken) throw new Error('There is no memory for a browser.');
      return aBrowser();
    });
    const { warm, print } = startPrinter(launch);
    await warm();
    await jest.advanceTimersByTimeAsync(120_000);
    isBroken = true;
    await warm();

    await expect(print(ada)).rejects.toMatchObject({ slug: 'renderer-busy' });

    await expect(warm()).rejects.toMatchObject({ slug: 'renderer-busy' });
    isBroken = false;
    await warm();
    expect(await print(ada)).toBe('a PDF');
  });

  it('prints a document alone although another one takes over from it just then', async () => {
    const takesOver = Promise.withResolvers<unknown>();
    const first = aBrowser(
      async (html) => {
        if (html === 'large' || first.close.mock.calls.length > 0) throw new Error('Target closed');
      },
      async () => {
        takesOver.resolve(aBrowser());
        await new Promise((resolve) => setTimeout(resolve, 100));
      },
    );
    const launches = [Promise.resolve(first), takesOver.promise];
    const { print } = startPrinter(() => launches.shift()!, { documentsPerBrowser: 2 });
    await print(bob);

    const printed = print(ada, 'large');
    await jest.advanceTimersByTimeAsync(100);

    expect(await printed).toBe('a PDF');
    expect(first.close).toHaveBeenCalled();
  });

  it('prints nothing before the last document of the one it took over from: each may take all memory', async () => {
    const begun: string[] = [];
    const long = Promise.withResolvers<void>();
    const { print } = startPrinter(
      async () =>
        aBrowser(async (html) => {
          begun.push(html);
          if (html === 'long') await long.promise;
        }),
      { documentsPerBrowser: 2 },
    );
    const first = print(ada, 'long');
    await print(bob, 'short');
    await jest.advanceTimersByTimeAsync(1);

    const next = print(bob, 'next');
    await jest.advanceTimersByTimeAsync(100);
    expect(begun).toEqual(['long', 'short']);

    long.resolve();
    await Promise.all([first, next]);
    expect(begun).toEqual(['long', 'short', 'next']);
  });

  it('is left to others for as long as a tenant had it alone', async () => {
    const begun: string[] = [];
    const { print } = startPrinter(async () =>
      aBrowser(async (html) => {
        begun.push(html);
        if (html !== 'large') return;
        await new Promise((resolve) => setTimeout(resolve, 500));
        throw new Error('Page crashed!');
      }),
    );
    const large = expect(print(ada, 'large')).rejects.toMatchObject({ slug: 'template-too-expensive' });
    await jest.advanceTimersByTimeAsync(1_000);
    await large;

    const next = print(ada, 'next');
    expect(await print(bob, 'of another')).toBe('a PDF');
    expect(begun).toEqual(['large', 'large', 'of another']);
    await jest.advanceTimersByTimeAsync(500);
    expect(await next).toBe('a PDF');
  });

  it('is not tried alone with a document whose margins leave nothing of its pages', async () => {
    const written = jest.fn(async () => {
      throw new Error('Protocol error (Page.printToPDF): invalid print parameters: content area is empty');
    });
    const { print } = startPrinter(async () => aBrowser(written));
    await expect(print(ada)).rejects.toMatchObject({ slug: 'template-too-expensive' });
    expect(written).toHaveBeenCalledTimes(1);
  });

  it('is left to others between two documents of a tenant that have to be printed alone', async () => {
    const begun: string[] = [];
    const secondBegunAlone = Promise.withResolvers<void>();
    const { print } = startPrinter(async () =>
      aBrowser(async (html) => {
        if (html === 'large 2' && begun.includes(html)) secondBegunAlone.resolve();
        begun.push(html);
        if (!html.startsWith('large')) return;
        await new Promise((resolve) => setTimeout(resolve, 200));
        throw new Error('Page crashed!');
      }),
    );
    const large = Promise.allSettled([print(ada, 'large 1'), print(ada, 'large 2')]);
    await jest.advanceTimersByTimeAsync(300);
    const next = print(ada, 'next');
    const small = print(bob, 'small');
    await jest.advanceTimersByTimeAsync(100);
    expect(begun).toEqual(['large 1', 'large 2', 'large 1', 'small']);
    expect(await small).toBe('a PDF');

    await secondBegunAlone.promise;
    await jest.advanceTimersByTimeAsync(200);
    await large;
    expect(await next).toBe('a PDF');
    expect(begun).toEqual(['large 1', 'large 2', 'large 1', 'small', 'large 2', 'next']);
  });
});
