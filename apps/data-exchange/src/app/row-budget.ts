import { CELL_LENGTH } from '../formats/workbook/sheet-rows';
import type { FileRow, FileRows } from '../formats/read-csv';

/** A file has more rows than a place for small files has time for: the work goes on, or begins anew, in one for long jobs. */
export class TooLong extends Error {}

/** How much of files may be read where other jobs wait for a few seconds at most: a small workbook may unpack to very much. */
export class RowBudget {
  private length = 0;

  /** @param lengthMax characters, of which each cell counts as some more */
  constructor(private readonly lengthMax: number) {}

  /** The same file, whose rows end with TooLong where they are beyond what is left. */
  limit(file: FileRows): FileRows {
    return { ...file, rows: this.limited(file.rows) };
  }

  private async *limited(pieces: AsyncGenerator<FileRow[]>): AsyncGenerator<FileRow[]> {
    for await (const rows of pieces) {
      for (const { cells } of rows)
        this.length += cells.reduce((sum, { length }) => sum + length + CELL_LENGTH, 0);
      if (this.length > this.lengthMax) throw new TooLong('The file has too many rows for a short job.');
      yield rows;
    }
  }
}
