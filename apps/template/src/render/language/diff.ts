const CONTEXT_LINES = 3;
const EDITS_MAX = 3_000;

type Edit = { kind: ' ' | '-' | '+'; line: string };

/** Compares two texts line by line, in the unified format. Texts without anything in common are replaced whole. */
export function unifiedDiff(from: string, to: string, names: { from: string; to: string }): string {
  if (from === to) return '';
  const edits = compare(linesOf(from), linesOf(to));
  return `--- ${names.from}\n+++ ${names.to}\n${hunks(edits).join('')}`;
}

/** A last line without an end is another line than one with it, and the format says so. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  const last = lines.pop();
  return last ? [...lines, `${last}\n\\ No newline at end of file`] : lines;
}

/** The shortest way from one list of lines to the other (Myers 1986). */
function compare(from: string[], to: string[]): Edit[] {
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start++;
  let end = 0;
  while (end < from.length - start && end < to.length - start && from.at(-1 - end) === to.at(-1 - end)) end++;
  const kept = (lines: string[]): Edit[] => lines.map((line) => ({ kind: ' ', line }));
  const middle = shortest(from.slice(start, from.length - end), to.slice(start, to.length - end));
  return [...kept(from.slice(0, start)), ...middle, ...kept(from.slice(from.length - end))];
}

function shortest(from: string[], to: string[]): Edit[] {
  const max = Math.min(from.length + to.length, EDITS_MAX);
  const trace: Int32Array[] = [];
  let front = new Int32Array([UNREACHED, UNREACHED, 0]);
  for (let distance = 0; distance <= max; distance++) {
    trace.push(front);
    // The next front has one more diagonal on either side.
    const next = new Int32Array(front.length + 2).fill(UNREACHED);
    next.set(front, 1);
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      const at = distance + 2 + diagonal;
      let x = isDown(front, distance, diagonal) ? next[at + 1]! : next[at - 1]! + 1;
      while (x < from.length && x - diagonal < to.length && from[x] === to[x - diagonal]) x++;
      next[at] = x;
      if (x >= from.length && x - diagonal >= to.length) return backtrack(from, to, trace);
    }
    front = next;
  }
  return [
    ...from.map((line): Edit => ({ kind: '-', line })),
    ...to.map((line): Edit => ({ kind: '+', line })),
  ];
}

/** Of a diagonal that no edits so far lead to. */
const UNREACHED = -1;

/** How far a diagonal was reached by so many edits less one, of which a front has all and one more on either side. */
const reachedAt = (front: Int32Array, distance: number, diagonal: number): number =>
  front[distance + 1 + diagonal] ?? UNREACHED;

/** Whether the furthest way to a diagonal by so many edits ends with a line of the second text. */
const isDown = (front: Int32Array, distance: number, diagonal: number): boolean =>
  diagonal === -distance ||
  (diagonal !== distance &&
    reachedAt(front, distance, diagonal - 1) < reachedAt(front, distance, diagonal + 1));

function backtrack(from: string[], to: string[], trace: Int32Array[]): Edit[] {
  const edits: Edit[] = [];
  let x = from.length;
  let y = to.length;
  for (let distance = trace.length - 1; distance >= 0; distance--) {
    const front = trace[distance]!;
    const diagonal = x - y;
    const down = isDown(front, distance, diagonal);
    const before = down ? diagonal + 1 : diagonal - 1;
    const fromX = reachedAt(front, distance, before);
    const fromY = fromX - before;
    while (x > fromX && y > fromY && x > 0 && y > 0) edits.push({ kind: ' ', line: from[(x--, y--, x)]! });
    if (distance === 0) break;
    if (down) edits.push({ kind: '+', line: to[--y]! });
    else edits.push({ kind: '-', line: from[--x]! });
  }
  return edits.reverse();
}

function hunks(edits: Edit[]): string[] {
  const changed = edits.flatMap(({ kind }, index) => (kind === ' ' ? [] : [index]));
  const ranges: { start: number; end: number }[] = [];
  for (const index of changed) {
    const last = ranges.at(-1);
    const start = Math.max(0, index - CONTEXT_LINES);
    const end = Math.min(edits.length, index + CONTEXT_LINES + 1);
    if (last && start <= last.end) last.end = end;
    else ranges.push({ start, end });
  }
  return ranges.map(({ start, end }) => {
    const count = (part: Edit[], without: string): number =>
      part.filter(({ kind }) => kind !== without).length;
    const before = edits.slice(0, start);
    const shown = edits.slice(start, end);
    const [fromCount, toCount] = [count(shown, '+'), count(shown, '-')];
    const at = (position: number, length: number): string =>
      `${length === 0 ? position : position + 1},${length}`;
    const head = `@@ -${at(count(before, '+'), fromCount)} +${at(count(before, '-'), toCount)} @@\n`;
    return head + shown.map(({ kind, line }) => `${kind}${line}\n`).join('');
  });
}
