import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { aRawWorkbook, inlineCell, sheetOf, stringsOf } from '../../test/a-zip';
import { filledRows } from './read-csv';
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
