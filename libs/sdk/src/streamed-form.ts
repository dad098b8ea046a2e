import { newId } from '@plinth/kernel/uuid';

const PIECE_BYTES = 256 * 1024;

/**
 * A form as a body that is read while it is sent, the options of `fetch` that go with it, and its headers: with its length
 * who receives it refuses what is too large before it is sent. Node keeps a copy of a body in memory wherever a redirect
 * might need it again. For Node only: browsers send no streams over HTTP/1.1, and set the length themselves.
 */
export function streamedForm(form: FormData): { init: RequestInit; headers: Record<string, string> } {
  const boundary = `----plinth-${newId()}`;
  const parts = [...partsOf(form, boundary)];
  const pieces = piecesOf(parts);
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
  const length = parts.reduce((sum, part) => sum + (part instanceof Blob ? part.size : part.length), 0);
  return {
    init,
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(length),
    },
  };
}

/** What is sent one after the other: texts as bytes, and files, which are not read yet. */
function* partsOf(form: FormData, boundary: string): Generator<Uint8Array | Blob> {
  const encoder = new TextEncoder();
  for (const [name, value] of form) {
    const part = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`;
    if (typeof value === 'string') {
      yield encoder.encode(`${part}\r\n\r\n${value}\r\n`);
      continue;
    }
    const type = value.type || 'application/octet-stream';
    yield encoder.encode(`${part}; filename="${escaped(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`);
    yield value;
    yield encoder.encode('\r\n');
  }
  yield encoder.encode(`--${boundary}--\r\n`);
}

async function* piecesOf(parts: readonly (Uint8Array | Blob)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (!(part instanceof Blob)) {
      yield part;
      continue;
    }
    for (let at = 0; at < part.size; at += PIECE_BYTES)
      yield new Uint8Array(await part.slice(at, at + PIECE_BYTES).arrayBuffer());
  }
}

/** As browsers write names in forms. */
const escaped = (text: string): string =>
  text.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22');
