const PIECE_LENGTH = 65_536;

/**
 * The JSON of a value, as `JSON.stringify` writes it, in pieces of about 64 kB: for values that have too many members to be
 * written in one step. A text is never split.
 */
export function* jsonPieces(value: unknown, pieceLength = PIECE_LENGTH): Generator<string, void> {
  let piece = '';

  function* write(container: object): Generator<string, void> {
    const isList = Array.isArray(container);
    let mark = isList ? '[' : '{';
    const names = isList ? container.keys() : Object.keys(container);
    for (const name of names) {
      const member = (container as Record<string | number, unknown>)[name];
      const isWrittenByMembers = hasMembers(member);
      const text = isWrittenByMembers ? '' : JSON.stringify(member);
      if (text === undefined && !isList) continue;
      piece += isList ? mark : `${mark}${JSON.stringify(name)}:`;
      mark = ',';
      if (isWrittenByMembers) yield* write(member);
      else piece += text ?? 'null';
      if (piece.length < pieceLength) continue;
      yield piece;
      piece = '';
    }
    if (mark !== ',') piece += mark;
    piece += isList ? ']' : '}';
  }

  if (hasMembers(value)) yield* write(value);
  else piece = JSON.stringify(value);
  if (piece !== '') yield piece;
}

/** Whether it is written by its members; what writes itself (`toJSON`) and what is a value in an object is not. */
const hasMembers = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  // As JSON.stringify has it: a member of that name that is no function is a value like any other.
  typeof (value as { toJSON?: unknown }).toJSON !== 'function' &&
  !(value instanceof String || value instanceof Number || value instanceof Boolean);
