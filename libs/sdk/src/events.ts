/** One server-sent event. */
export interface ReceivedEvent {
  id: string | undefined;
  event: string;
  data: unknown;
}

/** Reads server-sent events until the stream ends; leaving the loop ends the stream. */
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<ReceivedEvent> {
  let unread = '';
  const decoder = new TextDecoder();
  for await (const chunk of chunksOf(stream)) {
    unread += decoder.decode(chunk, { stream: true });
    const blocks = unread.split(/\r?\n\r?\n/);
    unread = blocks.pop()!;
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

/** Not every browser has streams that are async iterables. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}

/** Parses one event; undefined for a comment that only keeps the connection open. */
function parseEvent(block: string): ReceivedEvent | undefined {
  const fields = block
    .split(/\r?\n/)
    .map((line) => /^(id|event|data):\s?(.*)$/.exec(line))
    .filter((match) => match !== null);
  const valueOf = (name: string) => fields.find(([, field]) => field === name)?.[2];
  const data = fields.filter(([, field]) => field === 'data').map(([, , value]) => value);
  if (data.length === 0) return undefined;
  return { id: valueOf('id'), event: valueOf('event') ?? 'message', data: JSON.parse(data.join('\n')) };
}
