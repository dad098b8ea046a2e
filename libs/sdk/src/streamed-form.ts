import { newId } from '@plinth/kernel/uuid';

const PIECE_BYTES = 256 * 1024;

/**
 * A form as a body that is read while it is sent, and the options of `fetch` that go with it: Node keeps a copy of a body in
 * memory wherever a redirect might need it again.
 */
export function streamedForm(form: FormData): { init: RequestInit; type: string } {
  const boundary = `----plinth-${newId()}`;
  const pieces = piecesOf(form, boundary);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await pieces.return(undefined);
      },
    },
    // Nothing is read ahead.
    { highWaterMark: 0 },
  );
  const init = { body, duplex: 'half', redirect: 'error', window: null } satisfies RequestInit & {
    duplex: string;
  };
  return { init, type: `multipart/form-data; boundary=${boundary}` };
}

async function* piecesOf(form: FormData, boundary: string): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const [name, value] of form) {
    const part = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`;
    if (typeof value === 'string') {
      yield encoder.encode(`${part}\r\n\r\n${value}\r\n`);
      continue;
    }
    const type = value.type || 'application/octet-stream';
    yield encoder.encode(`${part}; filename="${escaped(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`);
    for (let at = 0; at < value.size; at += PIECE_BYTES)
      yield new Uint8Array(await value.slice(at, at + PIECE_BYTES).arrayBuffer());
    yield encoder.encode('\r\n');
  }
  yield encoder.encode(`--${boundary}--\r\n`);
}

/** As browsers write names in forms. */
const escaped = (text: string): string =>
  text.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22');
