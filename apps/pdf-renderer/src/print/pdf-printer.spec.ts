import { silentLog } from '@plinth/runtime/process/log';
import { createMetrics } from '@plinth/runtime/process/health';
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
