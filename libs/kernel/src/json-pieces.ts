const PIECE_LENGTH = 65_536;

/**
 * The JSON of a value, as `JSON.stringify` writes it, in pieces of about 64 kB: for values that have too many members, or
 * too long texts, to be written in one step. Of a text that needs escapes a piece may be six times as long.
 */
export function* jsonPieces(value: unknown, pieceLength = PIECE_LENGTH): Generator<string, void> {
  let piece = '';

  function* write(container: object): Generator<string, void> {
    const isList = Array.isArray(container);
    let mark = isList ? '[' : '{';
    const names = isList ? container.keys() : Object.keys(container);
    for (const name of names) {
      const member = (container as Record<string | number, unknown>)[name];
      const isWrittenByParts = hasMembers(member) || isLong(member);
      const text = isWrittenByParts ? '' : JSON.stringify(member);
      if (text === undefined && !isList) continue;
      piece += isList ? mark : `${mark}${JSON.stringify(name)}:`;
      mark = ',';
      if (isWrittenByParts) yield* writeParts(member);
      else piece += text ?? 'null';
      if (piece.length < pieceLength) continue;
      yield piece;
      piece = '';
    }
    if (mark !== ',') piece += mark;
    piece += isList ? ']' : '}';
  }

  function* writeText(text: string): Generator<string, void> {
    piece += '"';
    for (let begin = 0, end; begin < text.length; begin = end) {
      end = Math.min(begin + Math.max(1, pieceLength - piece.length), text.length);
      // The halves of a character stay together: apart each would be written as an escape.
      if (isFirstHalf(text.charCodeAt(end - 1)) && isSecondHalf(text.charCodeAt(end))) end++;
      piece += JSON.stringify(text.slice(begin, end)).slice(1, -1);
      if (piece.length < pieceLength) continue;
      yield piece;
      piece = '';
    }
    piece += '"';
  }

  const isLong = (member: unknown): member is string =>
    typeof member === 'string' && member.length > pieceLength;
  const writeParts = (parts: object | string): Generator<string, void> =>
    typeof parts === 'string' ? writeText(parts) : write(parts);

  if (hasMembers(value) || isLong(value)) yield* writeParts(value);
  else piece = JSON.stringify(value);
  if (piece !== '') yield piece;
}

const isFirstHalf = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isSecondHalf = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** Whether it is written by its members; what writes itself (`toJSON`) and what is a value in an object is not. */
const hasMembers = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  // As JSON.stringify has it: a member of that name that is no function is a value like any other.
  typeof (value as { toJSON?: unknown }).toJSON !== 'function' &&
  !(value instanceof String || value instanceof Number || value instanceof Boolean);
