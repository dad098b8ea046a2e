/** What a member takes beside its text: marks, its name, a number. */
const MEMBER_BYTES = 8;
/** To count the bytes of a short text takes longer than it is worth. */
const SHORT_LENGTH_MAX = 256;

/** How many bytes the JSON of a value has, about, told from its texts and members: whether it is large, without writing it. */
export function jsonSizeOf(value: unknown): number {
  if (typeof value === 'string')
    return MEMBER_BYTES + (value.length > SHORT_LENGTH_MAX ? Buffer.byteLength(value) : value.length);
  if (typeof value !== 'object' || value === null) return MEMBER_BYTES;
  let bytes = MEMBER_BYTES;
  if (Array.isArray(value)) for (const member of value) bytes += jsonSizeOf(member);
  else for (const name in value) bytes += jsonSizeOf((value as Record<string, unknown>)[name]);
  return bytes;
}
