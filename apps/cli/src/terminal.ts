import { createInterface } from 'node:readline/promises';
import { CommandError, ExitCode } from './exit-codes';

/** What a person, or a script, sees of a command: results on the standard output, all else on the standard error. */
export class Terminal {
  constructor(
    readonly isJson: boolean,
    private readonly confirmsAll: boolean,
  ) {}

  /** The result of a command: for scripts as JSON, for people as text. */
  result(value: unknown, text: string): void {
    // A file or another program gets the text as it is.
    const shown = process.stdout.isTTY ? printable(text) : text;
    process.stdout.write(
      this.isJson ? `${JSON.stringify(value, null, 2)}\n` : shown === '' ? '' : `${shown}\n`,
    );
  }

  /** What happens meanwhile. */
  note(text: string): void {
    if (!this.isJson) process.stderr.write(`${printable(text)}\n`);
  }

  /** Redraws one line, where somebody watches. */
  progress(text: string): void {
    if (!this.isJson && process.stderr.isTTY)
      process.stderr.write(`\r\u001b[K${cutTo(process.stderr.columns - 1, text)}`);
  }

  endProgress(): void {
    if (!this.isJson && process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  }

  /** @throws CommandError where nobody says yes, or nobody is there to be asked */
  async confirm(question: string): Promise<void> {
    if (this.confirmsAll) return;
    if (!process.stdin.isTTY)
      throw new CommandError(`${question} Nobody is there to confirm: add --yes.`, ExitCode.NotConfirmed);
    const asked = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await asked.question(`${question} [y/N] `);
    asked.close();
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('Not confirmed.', ExitCode.NotConfirmed);
  }
}

/** Text without what would steer the terminal or show its characters in another order, which it may have from anybody. */
export const printable = (text: string): string =>
  text.replace(/[^\P{Cc}\n\t]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');

/** A line that is redrawn must be one line: what wraps would stay. */
export const cutTo = (length: number, text: string): string => [...text].slice(0, length).join('');

/** `1 row`, `3 rows`. */
export const counted = (count: number, noun: string): string =>
  `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;

const CELL_LENGTH_MAX = 60;

/** Rows under their headings, in columns; long cells are cut. */
export function table(headings: string[], rows: (string | number | null | undefined)[][]): string {
  const cells = [headings, ...rows.map((row) => row.map(cellOf))];
  const widths = headings.map((_, column) =>
    Math.max(...cells.map((row) => [...(row[column] ?? '')].length)),
  );
  const lineOf = (row: string[]) =>
    row
      .map((cell, column) => cell + ' '.repeat(widths[column]! - [...cell].length))
      .join('  ')
      .trimEnd();
  const [first, ...others] = cells.map(lineOf);
  return [first, widths.map((width) => '─'.repeat(width)).join('  '), ...others].join('\n');
}

/** Control characters of data must not steer the terminal. */
function cellOf(value: string | number | null | undefined): string {
  const text = [...String(value ?? '').replace(/[\p{Cc}\p{Cf}]+/gu, ' ')];
  return text.length > CELL_LENGTH_MAX ? `${text.slice(0, CELL_LENGTH_MAX - 1).join('')}…` : text.join('');
}

const BAR_WIDTH = 24;

/** A line about running work. @param secondsLeft undefined where nobody knows yet */
export function progressLine(
  rows: number,
  failed: number,
  perSecond: number,
  secondsLeft: number | undefined,
): string {
  const all = secondsLeft === undefined ? undefined : rows + perSecond * secondsLeft;
  const filled = all === undefined || all === 0 ? 0 : Math.round((BAR_WIDTH * rows) / all);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  const left = secondsLeft === undefined ? '' : `, ${durationOf(secondsLeft)} left`;
  const failures = failed > 0 ? `, ${grouped(failed)} failed` : '';
  return `${bar} ${grouped(rows)} rows${failures}, ${grouped(Math.round(perSecond))}/s${left}`;
}

const grouped = (count: number): string => count.toLocaleString('en');

function durationOf(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
