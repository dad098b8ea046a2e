/** The file cannot be read to its end; the message is for the person who uploaded it. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}
