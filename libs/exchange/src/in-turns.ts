import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import type { EventLoopTurns } from '@plinth/runtime/process/fair-places';

/** Does the work of a batch that comes in steps, and returns what it returns. */
export type InTurns = <Result>(steps: Iterator<unknown, Result>) => Promise<Result>;

/** In turns of the event loop, which tenants take turns at. The first step waits for nobody: of a small batch it is all. */
export const inTurnsOf =
  (turns: EventLoopTurns, owner: ShareOwner): InTurns =>
  async (steps) => {
    const first = steps.next();
    return first.done ? first.value : turns.takeEach(owner, steps);
  };

/** The same in one turn after the other, for work of which each process has a few at the same time. */
export async function inFollowingTurns<Result>(steps: Iterator<unknown, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as Result;
    await nextTurn();
  }
}

/** Takes the steps of work one after the other at once: for who has nobody waiting. */
export function atOnce<Result>(steps: Iterator<unknown, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as Result;
  }
}

/** So many rows of a batch are one step: of 4,000 with an error in each cell all together take hundreds of milliseconds. */
const ROWS_PER_STEP = 250;
/** Characters of JSON that are read or written in one step. */
const LENGTH_PER_STEP = 64 * 1024;

/** Rows in parts that are one step each. */
export function* rowsInSteps<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += ROWS_PER_STEP) yield rows.slice(at, at + ROWS_PER_STEP);
}

/** What is made of each row, in steps. */
export function* mapInSteps<Row, Value>(
  rows: readonly Row[],
  valueOf: (row: Row) => Value,
): Generator<void, Value[]> {
  const values: Value[] = [];
  for (const part of rowsInSteps(rows)) {
    for (const row of part) values.push(valueOf(row));
    if (values.length < rows.length) yield;
  }
  return values;
}

/** Where a line of JSON ends a step, of lines that come one after the other. */
export function stepsByLength(): (line: { length: number }) => boolean {
  let [length, lines] = [0, 0];
  return (line) => {
    length += line.length;
    if (++lines < ROWS_PER_STEP && length < LENGTH_PER_STEP) return false;
    [length, lines] = [0, 0];
    return true;
  };
}

/** Behind it a row of a JSON array begins on a line of its own, so that the array can be read in steps. No JSON text has a line end. */
export const ROW_SEPARATOR = ',\n';

/** An array as JSON, written in steps. */
export function* jsonInSteps<Row>(
  rows: readonly Row[],
  valueOf: (row: Row, at: number) => unknown,
): Generator<void, string> {
  const lines: string[] = [];
  const endsStep = stepsByLength();
  for (const [at, row] of rows.entries()) {
    const line = JSON.stringify(valueOf(row, at));
    lines.push(line);
    if (endsStep(line) && at < rows.length - 1) yield;
  }
  return `[${lines.join(ROW_SEPARATOR)}]`;
}

/** A JSON array whose rows are on lines of their own, read in steps; one on a single line, as versions before wrote it, in one. */
export function* rowsOfJson<Row>(json: string): Generator<void, Row[]> {
  const lines = json.slice(1, -1).split('\n');
  const rows: Row[] = [];
  const endsStep = stepsByLength();
  let from = 0;
  for (const [at, line] of lines.entries()) {
    const isLast = at === lines.length - 1;
    if (!endsStep(line) && !isLast) continue;
    const part = lines.slice(from, at + 1).join('');
    // Each row but the last of all is followed by a comma.
    for (const row of JSON.parse(`[${isLast ? part : part.slice(0, -1)}]`) as Row[]) rows.push(row);
    from = at + 1;
    if (!isLast) yield;
  }
  return rows;
}
