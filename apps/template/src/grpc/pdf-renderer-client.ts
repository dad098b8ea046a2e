import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { status, type ServiceError } from '@grpc/grpc-js';
import type { Caller } from '@plinth/kernel/caller';
import { unavailable } from '@plinth/kernel/problem';
import type { Page } from '@plinth/proto/generated/plinth/pdf/v1/Page';
import type { PrintResponse__Output } from '@plinth/proto/generated/plinth/pdf/v1/PrintResponse';
import { protoPackages } from '@plinth/proto/packages';
import type { Close } from '@plinth/runtime/process/lifecycle';
import { isServiceError, problemOfGrpc, serviceClient } from '@plinth/runtime/rpc/grpc';
import type { FrontMatter } from '../render/language/front-matter';

export interface PdfRenderer {
  /**
   * Prints HTML, in UTF-8, as PDF.
   * @throws Problem where the document is over a limit, too many wait, or documents are not printed now
   */
  print(caller: Caller, html: Uint8Array, front: FrontMatter, signal?: AbortSignal): Promise<Buffer>;
  close: Close;
}

/** Longer than a client waits for its response. */
const DEADLINE_MILLISECONDS = 60_000;
const PART_BYTES = 256 * 1024;
/** Of a document that no renderer had begun to print: one that stops gives back what waits for it. */
const ATTEMPTS_MAX = 3;
/** After the first attempt; twice as long after the second. */
const WAIT_MILLISECONDS = 100;

/** Whether the renderer stops, or is gone. */
const isLost = ({ code }: ServiceError): boolean => code === status.UNAVAILABLE || code === status.CANCELLED;

/** A call that ended before the renderer began to print. */
class NotBegun extends Error {
  constructor(override readonly cause: ServiceError) {
    super('The document was not begun.', { cause });
  }
}

/** Creates a client of the PDF renderer. It is another process with keys of its own, which may be unavailable. */
export function createPdfRendererClient(config: {
  GRPC_SERVICES: Record<string, string>;
  PDF_RENDERER_KEYS: readonly string[];
  PDF_BYTES_MAX: number;
}): PdfRenderer {
  const address = config.GRPC_SERVICES['pdf-renderer'] ?? 'pdf-renderer:9090';
  const renderer = serviceClient(
    'pdf-renderer',
    protoPackages.pdf.v1.PdfRenderer,
    address,
    config.PDF_RENDERER_KEYS,
  );

  /** Prints once. @throws `NotBegun`, and what `print` throws */
  const printOnce = async (
    caller: Caller,
    html: Uint8Array,
    page: Page,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<Buffer> => {
    const call = renderer.client.Print(renderer.identity('Print', caller), { deadline });
    // Errors reach the reader of the call; one that comes after the reader has ended is ignored.
    call.on('error', () => undefined);
    const cancel = () => call.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    let sent: Promise<void> | undefined;
    try {
      call.write({ page });
      const parts: Buffer[] = [];
      let bytes = 0;
      for await (const { begun, pdf } of call as AsyncIterable<PrintResponse__Output>) {
        if (begun && !sent) {
          sent = send(call, html);
          // The reader meets the same error.
          sent.catch(() => undefined);
        }
        if (!pdf) continue;
        bytes += pdf.length;
        if (bytes > config.PDF_BYTES_MAX)
          throw unavailable('The PDF renderer sent more than a PDF may have.');
        parts.push(pdf);
      }
      return Buffer.concat(parts);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isServiceError(error)) throw error;
      throw !sent && isLost(error) ? new NotBegun(error) : problemOfGrpc(error, 'pdf-renderer');
    } finally {
      signal?.removeEventListener('abort', cancel);
      call.cancel();
    }
  };

  return {
    async print(caller, html, front, signal) {
      const page = pageOf(front);
      const deadline = Date.now() + DEADLINE_MILLISECONDS;
      for (let attempt = 1; ; attempt++) {
        signal?.throwIfAborted();
        try {
          return await printOnce(caller, html, page, deadline, signal);
        } catch (error) {
          if (!(error instanceof NotBegun)) throw error;
          if (attempt === ATTEMPTS_MAX) throw problemOfGrpc(error.cause, 'pdf-renderer');
          await pause(attempt * WAIT_MILLISECONDS);
        }
      }
    },
    close: renderer.close,
  };
}

type PrintCall = ReturnType<InstanceType<typeof protoPackages.pdf.v1.PdfRenderer>['Print']>;

/** Sends the HTML as fast as it is received. */
async function send(call: PrintCall, html: Uint8Array): Promise<void> {
  for (let start = 0; start < html.length; start += PART_BYTES) {
    if (!call.write({ html: html.subarray(start, start + PART_BYTES) })) await once(call, 'drain');
  }
  call.end();
}

function pageOf({ page, margin, header, footer }: FrontMatter): Page {
  return {
    ...(page === undefined ? {} : { size: page }),
    ...(margin === undefined ? {} : { margin }),
    ...(header === undefined ? {} : { header }),
    ...(footer === undefined ? {} : { footer }),
  };
}
