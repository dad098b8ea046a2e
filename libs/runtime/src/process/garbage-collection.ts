import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Below this many bytes, the program alone fills so much of a heap that buffers have no room in it. */
const HEAP_FOR_BUFFERS_MIN = 192 * 1_024 * 1_024;

/**
 * V8 allocates in the old generation what a place of the code allocates once most of it has survived a collection
 * (pretenuring). Nearly everything that is made while a process starts survives, and so does every request that waits
 * for Redis or a database at that moment. From then on such an object of each request is old at birth: it is collected
 * only with the old generation, and until then keeps everything alive that it refers to. Whether a process got into
 * that state was a matter of chance, and collections of the young generation then took several times as long.
 * To be called before the first request.
 */
export function allocateYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/**
 * V8 collects everything again once so many bytes of buffers were allocated since the last time, which is little where
 * the heap is small: with bodies of 900 kB the gateway spent half of its time on that, and everybody waited. Counted in
 * the limit of the heap instead, nearly all of these buffers are collected with the young generation. In the small heap
 * of a worker the opposite holds: an export collected everything six times a second, which was a third of its time.
 * To be called before the first request.
 */
export function limitBuffersWithHeap(): void {
  if (getHeapStatistics().heap_size_limit < HEAP_FOR_BUFFERS_MIN) return;
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/**
 * Collects the young generation each time that so many bytes were used in buffers. V8 does it when objects fill that
 * generation, and hardly counts the buffers that they hold: a stream of large pieces leaves 60 MB of them behind.
 * @returns what is to be called with the bytes of each piece that is no longer needed
 */
export function collectBuffersEvery(bytesMax: number): (bytes: number) => void {
  const collect = collector();
  let used = 0;
  return (bytes) => {
    used += bytes;
    if (used < bytesMax) return;
    used = 0;
    collect({ type: 'minor' });
  };
}

type Collect = (options: { type: 'minor' }) => void;

let knownCollect: Collect | undefined;

/** V8 gives it to contexts that are made after the flag was set; one for the process is enough. */
function collector(): Collect {
  if (knownCollect === undefined) {
    setFlagsFromString('--expose-gc');
    knownCollect = runInNewContext('gc') as Collect;
  }
  return knownCollect;
}
