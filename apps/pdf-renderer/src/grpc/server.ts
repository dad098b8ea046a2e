import type { ServerDuplexStream } from '@grpc/grpc-js';
import { forbidden, malformed } from '@plinth/kernel/problem';
import type { PdfRendererHandlers } from '@plinth/proto/generated/plinth/pdf/v1/PdfRenderer';
import type { PrintRequest__Output } from '@plinth/proto/generated/plinth/pdf/v1/PrintRequest';
import type { PrintResponse } from '@plinth/proto/generated/plinth/pdf/v1/PrintResponse';
import { protoPackages } from '@plinth/proto/packages';
import { grpcHandlers, type GrpcService } from '@plinth/runtime/rpc/grpc';
import { sendMessage, signalOf } from '@plinth/runtime/rpc/streamed-call';
import type { Deps } from '../compose';
import { documentTooExpensive } from '../problems';

const PART_BYTES = 256 * 1024;

/** The calls that this process answers. */
export function grpcServices({ config, log, printer }: Deps): GrpcService[] {
  const { callerOf, streamed } = grpcHandlers(config.PDF_RENDERER_KEYS, log);

  const handlers: PdfRendererHandlers = {
    Print: streamed(async (call: ServerDuplexStream<PrintRequest__Output, PrintResponse>) => {
      const caller = callerOf(call.metadata, call.getPath());
      if (!caller) throw forbidden('Printing a document needs a caller.');
      const parts = call[Symbol.asyncIterator]() as AsyncIterator<PrintRequest__Output>;
      const { value: first } = (await parts.next()) as IteratorResult<PrintRequest__Output, undefined>;
      const page = first?.page;
      if (!page) throw malformed('A document begins with `page`.');
      const signal = signalOf(call);
      await printer.inTurn(caller, signal, async (print) => {
        await sendMessage(call, { begun: {} });
        const html = await receiveHtml(parts, config.PDF_HTML_BYTES_MAX);
        const pdf = await print(html, page);
        for (let start = 0; start < pdf.length; start += PART_BYTES)
          await sendMessage(call, { pdf: pdf.subarray(start, start + PART_BYTES) });
      });
    }),
  };

  return [{ definition: protoPackages.pdf.v1.PdfRenderer.service, handlers }];
}

async function receiveHtml(parts: AsyncIterator<PrintRequest__Output>, bytesMax: number): Promise<string> {
  const received: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await parts.next();
    if (done) return Buffer.concat(received).toString('utf8');
    if (!value.html) throw malformed('After `page` comes HTML.');
    bytes += value.html.length;
    if (bytes > bytesMax) throw documentTooExpensive(`The document has more than ${bytesMax} bytes of HTML.`);
    received.push(value.html);
  }
}
