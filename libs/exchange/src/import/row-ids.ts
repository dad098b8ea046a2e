import { randomBytes } from 'node:crypto';

const COUNTER_MAX = 4_096;
const RANDOM_BYTES = 8;

/**
 * Ids for the rows of one batch: UUIDs version 7, ascending. They share one draw of random bytes, which makes them
 * cheaper than as many calls of `newId`.
 */
export function newRowIds(count: number): string[] {
  const random = randomBytes(count * RANDOM_BYTES);
  const now = Date.now();
  return Array.from({ length: count }, (_, index) => {
    const at = index * RANDOM_BYTES;
    random[at] = 0x80 | (random[at]! & 0x3f);
    const tail = random.toString('hex', at, at + RANDOM_BYTES);
    // A counter replaces random bits (RFC 9562, 6.2, method 1); when it is used up, the time advances.
    const time = (now + Math.floor(index / COUNTER_MAX)).toString(16).padStart(12, '0');
    const counter = (index % COUNTER_MAX).toString(16).padStart(3, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${tail.slice(0, 4)}-${tail.slice(4)}`;
  });
}
