import { isDeepStrictEqual } from 'node:util';
import type { TestResponse } from './http';
import type { PublishedEvent } from './published-events';

/** How often each pair runs at the same moment; without it, in the suite, each write runs once beside a neighbour. */
const ROUNDS = Number(process.env['PLINTH_TEST_PAIR_ROUNDS'] ?? 0);
/** So many pairs run side by side, so that their steps mix. */
const PAIRS_AT_ONCE = 8;

type Response = Pick<TestResponse, 'status' | 'body'>;

/** A write as one operation: with the same id it is the same request once more. */
export type Write<World> = (world: World, operationId: string) => Promise<Response>;

export interface PairsOf<World> {
  /** Makes what the writes are about, in a tenant of its own. */
  setUp: () => Promise<World>;
  /** By what they do. */
  writes: Record<string, Write<World>>;
  /** Reads everything that can be seen in the end: state and history. */
  observe: (world: World) => Promise<readonly Response[]>;
  /** What was published, in its order, which counts among events of one subject. */
  eventsOf: (world: World) => Promise<readonly PublishedEvent[]>;
  /** Whether a response says that the write lost a race and did nothing, which no order has. */
  isLost?: (response: Response) => boolean;
}

/** What was seen of two writes and of their retries. */
interface Run {
  responses: Response[];
  end: unknown;
  /** Those of each subject. */
  events: string[];
}

type Order = 'one first' | 'other first' | 'together';

/** Two writes that are run together, or one that is run beside its own retry. */
interface Pair {
  one: string;
  other: string;
  isRetry: boolean;
}

/**
 * Runs pairs of writes at the same moment, and then both once more as clients do whose responses were lost, each time in a
 * world of its own. Returns what was seen where neither order of the two writes leads to that, by the names of the two.
 */
export async function findUnserializable<World>(pairs: PairsOf<World>): Promise<Record<string, unknown>> {
  const left = pairsOf(Object.keys(pairs.writes));
  const found: Record<string, unknown> = {};
  while (left.length > 0) {
    await Promise.all(
      left.splice(0, PAIRS_AT_ONCE).map(async (pair) => {
        const seen = await compare(pairs, pair);
        if (seen)
          found[pair.isRetry ? `${pair.one} beside its retry` : `${pair.one} beside ${pair.other}`] = seen;
      }),
    );
  }
  return found;
}

function pairsOf(names: readonly string[]): Pair[] {
  const pairOf = (one: string, other: string, isRetry = false): Pair => ({ one, other, isRetry });
  if (ROUNDS === 0) return neighboursOf(names).map(([one, other]) => pairOf(one, other));
  const pairs = names.flatMap((one, index) => names.slice(index).map((other) => pairOf(one, other)));
  return [...pairs, ...names.map((name) => pairOf(name, name, true))];
}

/** Each name beside the next one, and an odd last one beside the first. */
function neighboursOf(names: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < names.length; index += 2)
    pairs.push([names[index]!, names[index + 1] ?? names[0]!]);
  return pairs;
}

async function compare<World>(pairs: PairsOf<World>, pair: Pair) {
  const orders = [await run(pairs, pair, 'one first'), await run(pairs, pair, 'other first')];
  for (let round = 0; round < Math.max(1, ROUNDS); round++) {
    const together = await run(pairs, pair, 'together');
    if (!orders.some((order) => isSame(together, order, pairs.isLost))) return { together, orders };
  }
  return undefined;
}

/** A write may have lost only to one that succeeded: where both lose, nobody did anything. */
const isSame = (
  { responses, ...together }: Run,
  order: Run,
  isLost: (response: Response) => boolean = () => false,
): boolean => {
  const hasSucceeded = (response: Response): boolean => response.status < 300 && !isLost(response);
  return (
    isDeepStrictEqual([together.end, together.events], [order.end, order.events]) &&
    responses.every(
      (response, index) =>
        isDeepStrictEqual(response, order.responses[index]) ||
        (isLost(response) && hasSucceeded(responses[otherOf(index)]!)),
    )
  );
};

/** Of four responses the first two are of one pair, and so are those of its retries. */
const otherOf = (index: number): number => index + (index % 2 === 0 ? 1 : -1);

async function run<World>(
  { setUp, writes, observe, eventsOf, isLost = () => false }: PairsOf<World>,
  { one, other, isRetry }: Pair,
  order: Order,
): Promise<Run> {
  const world = await setUp();
  const runOne = () => writes[one]!(world, 'one');
  const runOther = () => writes[other]!(world, isRetry ? 'one' : 'other');
  const inOrder = {
    'one first': async () => [await runOne(), await runOther()],
    'other first': async () => [await runOther(), await runOne()].toReversed(),
    together: () => Promise.all([runOne(), runOther()]),
  };
  const first = await inOrder[order]();
  // Who lost does now what it did not.
  const retried = isLost(first[1]!)
    ? [await runOther(), await runOne()].toReversed()
    : [await runOne(), await runOther()];
  const numbers: Numbers = new Map();
  const end = await observe(world);
  const shown = withoutChance(
    { responses: [...first, ...retried].map(seenOf), end: end.map(seenOf) },
    numbers,
  );
  const bySubject = Map.groupBy(await eventsOf(world), ({ subject }) => subject).values();
  // What others published has no part in how ids are numbered.
  const events = [...bySubject].map((ofOne) => JSON.stringify(withoutChance(ofOne, new Map(numbers))));
  return { ...shown, events: events.sort() };
}

const seenOf = ({ status, body }: Response): Response => ({ status, body });

type Numbers = Map<string, string>;

const CHANCE = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** Replaces what differs from run to run: times, traces, and ids, of which the same one has the same number. */
function withoutChance<Value>(value: Value, numbers: Numbers): Value {
  const text = JSON.stringify(value).replace(CHANCE, (found) => {
    if (found.endsWith('Z')) return 'a time';
    // Of no two responses it is the same.
    if (!found.includes('-')) return 'a trace';
    const number = numbers.get(found) ?? `#${numbers.size + 1}`;
    numbers.set(found, number);
    return number;
  });
  return JSON.parse(text) as Value;
}
