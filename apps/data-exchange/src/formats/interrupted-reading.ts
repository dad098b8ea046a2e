import { Problem } from '@plinth/kernel/problem';

/** The process that reads a file was killed by others, such as for the memory of its pod: the same file can be read again. */
export class InterruptedReading extends Problem {
  constructor() {
    super('overloaded', 'The workbook could not be read to its end just now; try again.', {
      retryAfterSeconds: 5,
    });
  }
}
