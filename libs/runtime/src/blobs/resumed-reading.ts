import type { Readable } from 'node:stream';

/** The bytes of a file from some place on. */
export interface OpenedPart {
  body: Readable;
  /** How many bytes it has. */
  length: number;
}

/**
 * Reads a file whose server may break off: it does so with whoever reads slowly, and where it restarts. The rest is opened
 * when it is asked for.
 * @param openRest opens what follows so many bytes of the first part
 * @throws what `openRest` throws, and the error of a server that was waited for and sent nothing
 */
export async function* resumedReading(
  first: OpenedPart,
  openRest: (from: number) => Promise<OpenedPart>,
): AsyncGenerator<Buffer> {
  let position = 0;
  for (let part = first; ; part = await openRest(position)) {
    const begin = position;
    let isAwaited = true;
    // The first may have broken before anybody read it; the others were asked for.
    let brokeWhileHeld = part === first && part.body.destroyed;
    part.body.once('close', () => (brokeWhileHeld ||= !isAwaited));
    try {
      for await (const piece of part.body as AsyncIterable<Buffer>) {
        position += piece.length;
        isAwaited = false;
        yield piece;
        isAwaited = true;
      }
      return;
    } catch (error) {
      if (position === first.length) return;
      if (position === begin && !brokeWhileHeld) throw error;
    }
  }
}
