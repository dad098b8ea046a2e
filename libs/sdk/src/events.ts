import { createParser } from 'eventsource-parser';

/** One server-sent event. */
export interface ReceivedEvent {
  id: string | undefined;
  event: string;
  data: unknown;
}

/** Reads server-sent events until the stream ends; leaving the loop ends the stream. */
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<ReceivedEvent> {
  const unread: ReceivedEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, event = 'message', data }) => unread.push({ id, event, data: JSON.parse(data) }),
  });
  const decoder = new TextDecoder();
  for await (const chunk of chunksOf(stream)) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* unread.splice(0);
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
