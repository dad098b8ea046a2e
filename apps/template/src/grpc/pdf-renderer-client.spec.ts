import { protoPackages } from '@plinth/proto/packages';
import { serveGrpc } from '@plinth/runtime/rpc/grpc';
import { status, type ServerDuplexStream } from '@grpc/grpc-js';
import type { PrintRequest__Output } from '@plinth/proto/generated/plinth/pdf/v1/PrintRequest';
import type { PrintResponse } from '@plinth/proto/generated/plinth/pdf/v1/PrintResponse';
import { aCaller, TEST_KEYS } from '@plinth/testing/http';
import { createPdfRendererClient } from './pdf-renderer-client';

type Call = ServerDuplexStream<PrintRequest__Output, PrintResponse>;

/** A renderer whose calls end as they are told to, one after the other. */
async function aRenderer(endings: ((call: Call) => void)[]) {
  let calls = 0;
  const Print = (call: Call): void => endings[calls++]!(call);
  const server = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, [
    { definition: protoPackages.pdf.v1.PdfRenderer.service, handlers: { Print } },
  ]);
  const client = createPdfRendererClient({
    GRPC_SERVICES: { 'pdf-renderer': `127.0.0.1:${server.port}` },
    PDF_RENDERER_KEYS: TEST_KEYS,
    PDF_BYTES_MAX: 1_000,
  });
  return {
    print: () => client.print(aCaller(), Buffer.from('<p>x</p>'), {} as never),
    calls: () => calls,
    close: async () => {
      await client.close();
      await server.close();
    },
  };
}

const fails = (code: status) => (call: Call) => void call.emit('error', Object.assign(new Error(), { code }));
const begins = (call: Call) => void call.write({ begun: {} });
const prints = (call: Call) => {
  begins(call);
  call.on('data', () => undefined);
  call.on('end', () => {
    call.write({ pdf: Buffer.from('a pdf') });
    call.end();
  });
};

describe('a document', () => {
  it.each([status.UNAVAILABLE, status.CANCELLED])(
    'is printed elsewhere that a renderer gave back before it began (%s)',
    async (code) => {
      const renderer = await aRenderer([fails(code), fails(code), prints]);
      expect((await renderer.print()).toString()).toBe('a pdf');
      await renderer.close();
    },
  );

  it('is 503 where no renderer begins it', async () => {
    const renderer = await aRenderer(Array.from({ length: 9 }, () => fails(status.UNAVAILABLE)));
    await expect(renderer.print()).rejects.toMatchObject({ kind: 'overloaded' });
    expect(renderer.calls()).toBe(3);
    await renderer.close();
  });

  it.each([
    ['that was begun', (call: Call) => (begins(call), fails(status.UNAVAILABLE)(call))],
    ['that is refused', fails(status.RESOURCE_EXHAUSTED)],
  ])('%s is asked for once', async (_, ends) => {
    const renderer = await aRenderer([ends, prints]);
    await expect(renderer.print()).rejects.toThrow();
    expect(renderer.calls()).toBe(1);
    await renderer.close();
  });
});
