import type { FailedRow, RowErrorDetail } from '@plinth/exchange/row-error';
import { rowMessages } from '@plinth/exchange/row-message';
import { formatMessage } from '@plinth/kernel/message';
import { LocalizedMessages } from './localized-messages';
import type { MessageTexts } from './message-texts';

/** A failed row with the cells it has in the file. */
export interface FailedRowWithCells extends FailedRow {
  cells: string[];
  /** Where cells of a workbook hold errors of its formulas, if there are any. */
  errorCells?: number[];
}

const DETAILS_PER_STEP = 1_000;

/** Does something with each row, in steps: a row may have an error in each of a thousand cells. */
export function* eachInSteps<Row extends FailedRow, Result>(
  rows: readonly Row[],
  work: (row: Row, index: number) => Result,
): Generator<void, Result[]> {
  const results: Result[] = [];
  let details = 0;
  for (const [index, row] of rows.entries()) {
    results.push(work(row, index));
    details += 1 + row.details.length;
    if (details < DETAILS_PER_STEP || index === rows.length - 1) continue;
    details = 0;
    yield;
  }
  return results;
}

/**
 * Takes rows that are made one by one, in steps of as much: no more than one of them is needed at a time. Returns whether
 * all are taken; otherwise it ended at a row after which there was no room for the next one, and goes on where it is called
 * again.
 * @param take returns whether there is room for the next row
 */
export function* takeInSteps<Row extends FailedRow>(
  rows: Iterator<Row>,
  take: (row: Row) => boolean,
): Generator<void, boolean> {
  let details = 0;
  for (let next = rows.next(); !next.done; next = rows.next()) {
    if (details >= DETAILS_PER_STEP) {
      details = 0;
      yield;
    }
    details += 1 + next.value.details.length;
    if (!take(next.value)) return false;
  }
  return true;
}

/** A report describes rows up to so many bytes; the correction file has all of them. */
export const REPORT_BYTES_MAX = 4 * 1024 * 1024;
/** Its messages in the texts of a tenant have so much room: about as much as rows of these bytes take with those of the platform. */
export const REPORT_MESSAGES_LENGTH_MAX = 4 * 1024 * 1024;

/** Data owners name properties; a person who corrects a file knows its columns. */
export const withFileColumns = (
  row: FailedRow,
  columnByProperty: ReadonlyMap<string, string>,
): FailedRow => ({
  ...row,
  details: row.details.map((detail) => ({
    ...detail,
    column: detail.column === null ? null : (columnByProperty.get(detail.column) ?? detail.column),
  })),
});

/**
 * Tells errors in a culture; a message without a text there is in English, and so are all from the first one for which
 * there is no room. Errors are bounded as they are stored, and a tenant's texts make each of them many times as long.
 */
export class Localizer {
  private readonly messages: LocalizedMessages;

  /** @param room for its messages as JSON, in characters: each is written twice, in its detail and among those of its row */
  constructor(texts: MessageTexts, room: number) {
    this.messages = new LocalizedMessages(texts, room / 2);
  }

  row<Row extends FailedRow>(row: Row): Row {
    return { ...row, details: row.details.map((detail) => this.detail(detail)) };
  }

  detail(detail: RowErrorDetail): RowErrorDetail {
    return { ...detail, message: this.messageOf(detail) };
  }

  private messageOf({ column, message, text }: RowErrorDetail): string {
    if (!text) return message;
    const values = [column ?? '', ...text.args];
    const localized = this.messages.fill(`rowErrors.${text.key}`, values);
    if (localized !== undefined) return localized;
    // An owner of a later version may have messages that are not known here.
    const english: string | undefined = rowMessages[text.key];
    return english === undefined ? message : formatMessage(english, values, { culture: 'en' });
  }
}

/** All errors of a row as one text, with columns and values. */
export function describeErrors({ details }: Pick<FailedRow, 'details'>): string {
  return details.map(describeError).join(' ');
}

const describeError = ({ column, value, message }: RowErrorDetail): string => {
  if (column === null) return message;
  const subject = message.includes(column) ? message : `${column}: ${message}`;
  return value === null ? subject : `${subject} (${JSON.stringify(value)})`;
};
