import type { IncomingMessage, ServerResponse } from 'node:http';
import { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { inTurns } from '@plinth/runtime/process/in-turns';
import { PatientTimer } from '@plinth/runtime/process/patient-timer';

/** A client that sends nothing for so long waits for its response, or is away. One whose pieces wait for their turn sends. */
const SILENCE_MILLISECONDS_MAX = 500;
const MILLISECONDS_MAX = 30_000;
/** A fast client sends gigabytes in that time. */
export const DISCARDED_BYTES_MAX = 64 * 1024 * 1024;
/** In which bodies that nobody wants are discarded, many of which come without a credential and as fast as the network is. */
const turns = new EventLoopTurns();
const NOBODY = { tenantId: '', userId: '' };

/** Whether more of the body of a request may arrive. Node knows the end of one without a body only a moment later. */
export const isBodyPending = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && ('transfer-encoding' in headers || (headers['content-length'] ?? '0') !== '0');

/**
 * Ends a response, whose head has its length, while its client is still sending. To close the connection then would reset
 * it, and a client that sends all before it reads would never have the response: so what it sends is discarded, until it
 * has sent all, or for a while and up to {@link DISCARDED_BYTES_MAX}; then the connection is closed. Of all such bodies of
 * the process one piece is discarded in a turn of the event loop.
 */
export function endEarlyResponse(
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer | string,
): void {
  const { socket } = request;
  let discardedBytes = 0;
  response.write(body);
  const discarded = inTurns(NOBODY, turns);
  const end = (): void => {
    silenceTimer.clear();
    clearTimeout(endTimer);
    request.unpipe(discarded);
    discarded.destroy();
    // Node would read the rest of the body before it took the next request of the connection.
    response.end(() => void (request.complete || socket.destroySoon()));
  };
  const endInSilence = () => void (discarded.writableLength > 0 ? silenceTimer.refresh() : end());
  const discard = (piece: Buffer): void => {
    discardedBytes += piece.length;
    if (discardedBytes > DISCARDED_BYTES_MAX) end();
    else silenceTimer.refresh();
  };
  const silenceTimer = new PatientTimer(SILENCE_MILLISECONDS_MAX, endInSilence);
  const endTimer = setTimeout(end, MILLISECONDS_MAX);
  discarded.on('data', discard);
  request.once('end', end).once('close', end).pipe(discarded);
}
