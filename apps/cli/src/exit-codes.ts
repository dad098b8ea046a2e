/** How the program ends, for scripts; docs/command-line.md has the same list. */
export const ExitCode = {
  Done: 0,
  /** A defect of the program. */
  Unexpected: 1,
  /** The command line or a file of the caller is not right. */
  Usage: 2,
  /** No credential, or one that may not do this. */
  NotAllowed: 3,
  /** The platform refused the request. */
  Refused: 4,
  /** The platform, or the way to it, is unavailable. */
  Unavailable: 5,
  /** Some rows or items failed. */
  Partly: 6,
  /** Nobody confirmed. */
  NotConfirmed: 7,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Ends the program with a message for the person who started it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    message: string,
    readonly exitCode: ExitCode = ExitCode.Usage,
  ) {
    super(message);
  }
}
