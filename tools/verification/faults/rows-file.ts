import ExcelJS from 'exceljs';

/** A file with these rows, the first of which is the header. */
export interface RowsFile {
  name: string;
  content: Blob;
}

/** The same rows as text and as a workbook; values may have quotes and line ends. */
export async function filesOf(rows: readonly string[][]): Promise<RowsFile[]> {
  const quoted = rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','));
  const workbook = new ExcelJS.Workbook();
  workbook.addWorksheet('Rows').addRows([...rows]);
  return [
    { name: 'rows.csv', content: new Blob([[...quoted, ''].join('\r\n')]) },
    { name: 'rows.xlsx', content: new Blob([(await workbook.xlsx.writeBuffer()) as ArrayBuffer]) },
  ];
}

/** The texts of all cells of a workbook, row by row, whatever else it says of itself. */
export async function cellsOf(workbook: Buffer): Promise<string[][]> {
  const read = new ExcelJS.Workbook();
  await read.xlsx.load(workbook as unknown as ExcelJS.Buffer);
  return read.worksheets.flatMap((sheet) =>
    sheet.getRows(1, sheet.rowCount)!.map((row) => (row.values as unknown[]).slice(1).map(String)),
  );
}
