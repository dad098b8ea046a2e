import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { aRawWorkbook, inlineCell, sheetOf, stringsOf } from '../../test/a-zip';
import type { FailedRowWithCells } from '../domain/failed-row';
import { correctionWorkbook } from './correction-file';
import { filledRows, type FileRow, type FileRows } from './read-csv';
import { piecesOf, readXlsx } from './read-xlsx';
import { writeXlsx } from './xlsx-writer';

describe('readXlsx', () => {
  it('gives all rows to who takes them more slowly than they are read', async () => {
    const ROWS = 40_000;
    const written = Array.from({ length: ROWS }, (_, index) => [String(index)]);
    const columns = [{ property: 'stock', header: 'Stock', type: 'number' } as const];
    const workbook = await buffer(writeXlsx(columns, Readable.from([written])));
    const countSlowly = async (): Promise<number> => {
      let count = 0;
      for await (const rows of (await readXlsx(Readable.from([workbook]), {})).rows) {
        count += rows.length;
        await setTimeout(5);
      }
      return count;
    };

    // Each of them lost its last rows in a third of all cases.
    const readers = Array.from({ length: 8 }, countSlowly);
    expect(await Promise.all(readers)).toEqual(readers.map(() => ROWS));
  });

  it('has no row where all cells are blank, and of one column has it', async () => {
    const numbersOf = async (row: string) => {
      const sheet = sheetOf(
        `<row r="1">${row.replaceAll('@', '1')}</row><row r="2">${row.replaceAll('@', '2')}</row>` +
          `<row r="3">${inlineCell('A3', '  ')}</row>`,
      );
      const workbook = aRawWorkbook({ 'xl/worksheets/sheet1.xml': sheet });
      const numbers: number[] = [];
      for await (const rows of filledRows((await readXlsx(Readable.from([workbook]), {})).rows))
        numbers.push(...rows.map(({ number }) => number));
      return numbers;
    };

    expect(await numbersOf(inlineCell('A@', 'Stock @') + inlineCell('B@', 'Title @'))).toEqual([2]);
    expect(await numbersOf(inlineCell('A@', 'Stock @'))).toEqual([2, 3]);
  });

  it.each([
    [
      'of one row',
      [
        ['Code', 'Title', 'Stock'],
        ['A', 'a', '1'],
        ['B', 'b', '2'],
      ],
    ],
    ['below a title', [['Stock of 2026'], ['Code', 'Title', 'Stock'], ['A', 'a', '1'], ['B', 'b', '2']]],
    [
      'of two rows',
      [
        ['Article', '', 'Stock'],
        ['Code', 'Title', 'Count'],
        ['A', 'a', '1'],
        ['B', 'b', '2'],
      ],
    ],
    ['that is missing', [['Title of the list'], ['1', '2', '3'], ['4', '5', '6'], ['7', '8', '9']]],
    [
      'with totals',
      [
        ['Code', 'Title', 'Stock'],
        ['A', 'a', '1'],
        ['B', 'b', '2'],
        ['Total', '', '3'],
      ],
    ],
  ])(
    'reads a table with a header %s in the same rows where it is said to be where it was found',
    async (_what, rows) => {
      const sheet = sheetOf(
        rows
          .map((cells, at) => {
            const filled = cells.flatMap((cell, column) =>
              cell === '' ? [] : [inlineCell(`${'ABC'[column]}${at + 1}`, cell)],
            );
            return `<row r="${at + 1}">${filled.join('')}</row>`;
          })
          .join(''),
      );
      const workbook = aRawWorkbook({ 'xl/worksheets/sheet1.xml': sheet });
      const read = async (layout: Pick<FileRows, 'headerRow' | 'headerRows' | 'lastRow'> | object) => {
        const {
          headers,
          headerRow,
          headerRows,
          lastRow,
          rows: pieces,
        } = await readXlsx(Readable.from([workbook]), layout);
        const found: FileRow[] = [];
        for await (const piece of pieces) found.push(...piece);
        return { headers, headerRow, headerRows, lastRow, found };
      };
      const { headers, found, ...layout } = await read({});

      expect(found.length).toBeGreaterThan(0);
      expect(await read(layout)).toEqual({ headers, found, ...layout });
    },
  );

  it('gives an error of a formula back as one that a correction workbook was written with', async () => {
    const failed: FailedRowWithCells = {
      rowNumber: 2,
      kind: 'Conversion',
      details: [],
      cells: ['A', '#N/A', '#N/A', '#MADE UP!'],
      errorCells: [1, 3],
    };
    const names = ['Code', 'Title', 'Note', 'Stock'];
    const workbook = await buffer(correctionWorkbook(names, Readable.from([[failed]])));
    const { rows } = await readXlsx(Readable.from([workbook]), {});
    const { value } = await rows.next();

    expect((value as FileRow[])[0]!.errorCells).toEqual([
      { position: 1, column: 'Title', error: '#N/A' },
      { position: 3, column: 'Stock', error: '#VALUE!' },
    ]);
    expect((value as FileRow[])[0]!.cells.slice(0, 4)).toEqual(['A', '#N/A', '#N/A', '#VALUE!']);
    await rows.return(undefined);
  });

  it('looks for the end of the table among its first thousand rows, whatever pieces they come in', async () => {
    const columns = ['Code', 'Title'].map((header) => ({ property: header, header, type: 'string' }));
    const rows = Array.from({ length: 1_010 }, (_, row) => [`K${row}`, `Title ${row}`]);
    rows[1_005] = ['Code', 'Title'];
    rows[1_006] = ['Code', 'Title'];
    const workbook = await buffer(writeXlsx(columns, Readable.from([rows])));
    const file = await readXlsx(Readable.from([workbook]), {});
    await file.close();

    expect(file.findings).toEqual([]);
  });

  it('names the texts whose end an export may have cut off', async () => {
    const columns = [{ property: 'title', header: 'Title', type: 'string' } as const];
    const texts = ['a'.repeat(32_765), 'a'.repeat(32_768), `${'a'.repeat(32_766)}😀`];
    const workbook = await buffer(writeXlsx(columns, Readable.from([texts.map((text) => [text])])));
    const named: unknown[] = [];
    for await (const rows of (await readXlsx(Readable.from([workbook]), {})).rows)
      named.push(...rows.map(({ number, cutCells }) => [number, cutCells]));

    expect(named).toEqual([
      [2, undefined],
      [3, [0]],
      [4, [0]],
    ]);
  });

  it('waits as long as its rows are being stored, and no longer than a minute for the next ones', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const program = `process.stdin.on('data', (bytes) => process.stdout.write(bytes)).on('end', () => process.exit())`;
    const child = spawn(process.execPath, ['-e', program], { stdio: 'pipe' });
    const pieces = piecesOf(child);
    try {
      child.stdin.write('{"rows":[],"share":0.5}\n');
      await pieces.next();
      jest.advanceTimersByTime(600_000);
      child.stdin.write('{"rows":[],"share":0.8}\n');
      expect((await pieces.next()).value).toMatchObject({ share: 0.8 });

      const next = pieces.next();
      await new Promise(setImmediate);
      jest.advanceTimersByTime(60_000);
      await expect(next).rejects.toThrow('needs more memory or time');
    } finally {
      jest.useRealTimers();
      child.kill('SIGKILL');
    }
  });

  it('fails where its process cannot start', async () => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    await expect(piecesOf(spawn('/no/program', { stdio: 'pipe' })).next()).rejects.toThrow('ENOENT');
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it.each([
    [`require('/no/parser')`, "Cannot find module '/no/parser'"],
    [`'a'.repeat(2 ** 30)`, 'needs more memory or time'],
  ])('tells a workbook that is too large from a program that does not work: %s', async (program, message) => {
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'pipe'] });

    await expect(piecesOf(child).next()).rejects.toThrow(message);
  });

  it('writes no more texts than its directory says that there are', async () => {
    const item = Buffer.concat([
      Buffer.from('<si><t>'),
      Buffer.alloc(30_000, 0xff),
      Buffer.from('</t></si>'),
    ]);
    const [before, after] = stringsOf('|')
      .split('|')
      .map((text) => Buffer.from(text));
    const strings = Buffer.concat([before!, ...Array<Buffer>(20).fill(item), after!]);
    const sheet = sheetOf('<row r="1"><c r="A1" t="s"><v>0</v></c></row>');
    const workbook = aRawWorkbook({ 'xl/sharedStrings.xml': strings, 'xl/worksheets/sheet1.xml': sheet });

    await expect(readXlsx(Readable.from([workbook]), {})).rejects.toThrow(
      'The texts of the workbook are damaged.',
    );
  });

  describe('while there is no room for temporary files', () => {
    const noRoom = { kind: 'overloaded', detail: 'There is no room to read workbooks just now; try again.' };
    afterEach(() => jest.restoreAllMocks());

    it('says so, and nothing of the workbook', async () => {
      jest.spyOn(os, 'tmpdir').mockReturnValue('/no/folder');
      await expect(readXlsx(Readable.from([aRawWorkbook()]), {})).rejects.toMatchObject(noRoom);
    });

    it('says so where its process finds out', async () => {
      const path = join(mkdtempSync(join(tmpdir(), 'plinth-full-')), 'workbook');
      const strings = stringsOf('<si><t>shared</t></si>');
      const sheet = sheetOf('<row r="1"><c r="A1" t="s"><v>0</v></c></row>');
      const workbook = aRawWorkbook({ 'xl/sharedStrings.xml': strings, 'xl/worksheets/sheet1.xml': sheet });
      writeFileSync(path, workbook);
      const files = [openSync(path, 'r'), openSync('/dev/full', 'r+')];
      const task = JSON.stringify({ sizeBytes: workbook.length, columnsMax: 10 });
      const program = join(__dirname, 'workbook-reader.ts');
      const child = spawn(process.execPath, ['--no-warnings', program, task], {
        stdio: ['ignore', 'pipe', 'pipe', ...files],
      });

      await expect(piecesOf(child).next()).rejects.toMatchObject(noRoom);

      files.forEach(closeSync);
      rmSync(dirname(path), { recursive: true });
    });
  });

  it.each([
    ['without an error', '', { message: 'The reader of the workbook ended before the last row.' }],
    ['because others killed it', `, () => process.kill(process.pid, 'SIGKILL')`, { kind: 'overloaded' }],
  ])('fails where its process ends early, between two rows, %s', async (_how, end, failure) => {
    const first = '{"rows":[[1,["Stock"]]],"share":0.5}\\n';
    const program = `process.stdout.write('${first}'${end})`;
    const pieces = piecesOf(spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'pipe'] }));

    expect((await pieces.next()).value).toEqual({ rows: [[1, ['Stock']]], share: 0.5 });
    await expect(pieces.next()).rejects.toMatchObject(failure);
  });
});
