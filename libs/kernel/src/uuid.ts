import { NIL, v7 } from 'uuid';

/** Comes before every id. */
export const NIL_ID: string = NIL;

const ID_BYTES = 16;
/** Of many ids together: for one of them, drawing random bytes takes three times as long as all the rest. */
const random = new Uint8Array(256 * ID_BYTES);
let used = random.length;

/** Of the last id that this process made. */
let milliseconds = 0;
let sequence = 0;

/** A new UUID version 7; ids made by one process sort in the order in which they were made (RFC 9562, 6.2). */
export function newId(): string {
  const bytes = nextRandom();
  const now = Date.now();
  if (now > milliseconds) {
    milliseconds = now;
    // Room to count from, in the 32 bits that the library takes.
    sequence = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) >>> 1;
  } else sequence++;
  return v7({ random: bytes, msecs: milliseconds, seq: sequence });
}

function nextRandom(): Uint8Array {
  if (used === random.length) {
    crypto.getRandomValues(random);
    used = 0;
  }
  return random.subarray(used, (used += ID_BYTES));
}

/** The textual form of a UUID of any version. */
export const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID_PATTERN.test(text);
