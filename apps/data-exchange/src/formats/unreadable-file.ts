/** The file cannot be read to its end; the message says why, in words for whoever uploaded it. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}
