import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import exceljs from 'exceljs';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { manyRows, writeCopyText } from './exchange-rows.ts';
import type { BenchTarget } from './platform.ts';
import { timeOf } from './times.ts';

const SHEET_ROWS_MAX = 1_048_576;

/** How long the database alone takes to put so many rows into the table. */
export async function timeCopyIn(target: BenchTarget, folder: string, rowCount: number): Promise<number> {
  const tenantId = randomUUID();
  // Written before the measurement starts: the reference is the database alone.
  const path = join(folder, 'copy.txt');
  await writeCopyText(path, rowCount, () => `${tenantId}\t${randomUUID()}\tbench`);
  const columns = 'tenant_id, id, modified_by, resource_name, culture_name, key, value';
  try {
    return await inTable(target, async (client) => {
      const taken = await timeOf(() =>
        pipeline(createReadStream(path), client.query(copyFrom(`COPY override (${columns}) FROM STDIN`))),
      );
      await client.query('DELETE FROM override WHERE tenant_id = $1', [tenantId]);
      return taken;
    });
  } finally {
    rmSync(path);
    await vacuumTable(target);
  }
}

/** How long the database alone takes to copy a tenant's rows out, in the order of an export. */
export const timeCopyOut = (target: BenchTarget, tenantId: string): Promise<number> =>
  inTable(target, (client) =>
    timeOf(() =>
      pipeline(
        client.query(
          copyTo(
            `COPY (SELECT resource_name, culture_name, key, value FROM override
                   WHERE tenant_id = ${pg.escapeLiteral(tenantId)}
                   ORDER BY resource_name, culture_name, key) TO STDOUT`,
          ),
        ),
        new Writable({ write: (_chunk, _encoding, done) => done() }),
      ),
    ),
  );

/** Autovacuum would run soon after so many writes, and disturb the next measurement. */
export const vacuumTable = (target: BenchTarget): Promise<unknown> =>
  inTable(target, (client) => client.query('VACUUM (ANALYZE) override'));

async function inTable<Result>(
  target: BenchTarget,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: target.adminUrlOf('localization') });
  await client.connect();
  return work(client).finally(() => client.end());
}

/** How long exceljs alone takes to write so many rows as a workbook. */
export function timeWorkbook(folder: string, rowCount: number): Promise<number> {
  return timeOf(async () => {
    const stream = createWriteStream(join(folder, 'reference.xlsx'));
    const book = new exceljs.stream.xlsx.WorkbookWriter({ stream, useSharedStrings: false });
    let sheet = book.addWorksheet();
    let rowsOfSheet = 0;
    for (const rows of manyRows(rowCount)) {
      if (rowsOfSheet + rows.length > SHEET_ROWS_MAX) {
        sheet.commit();
        sheet = book.addWorksheet();
        rowsOfSheet = 0;
      }
      for (const row of rows) sheet.addRow(row).commit();
      rowsOfSheet += rows.length;
      if (stream.writableNeedDrain) await once(stream, 'drain');
    }
    sheet.commit();
    await book.commit();
  });
}
