/**
 * The program of the process that reads a workbook: it may be killed, run out of memory or hang, and nobody else notices.
 * It takes the file on its standard input and writes rows as lines of JSON: `[sheet, row number, [cells…]]`.
 * It is kept as text because it is no module of the bundle but runs by itself, with nothing but the parser.
 */
export const xlsxChildProgram = `
const { createRequire } = require('node:module');
const ExcelJS = createRequire(process.argv[1])('exceljs');
const { once } = require('node:events');

const textOf = (value) => {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) return '';
    const text = value.toISOString();
    return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text;
  }
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value.richText)) return value.richText.map((part) => part.text).join('');
  if (value.error !== undefined) return String(value.error);
  if (value.formula !== undefined || value.sharedFormula !== undefined) return textOf(value.result);
  if (value.text !== undefined) return textOf(value.text);
  return '';
};

async function main() {
  const columnsMax = Number(process.argv[2]);
  const workbook = new ExcelJS.stream.xlsx.WorkbookReader(process.stdin, {
    entries: 'ignore', sharedStrings: 'cache', hyperlinks: 'ignore', styles: 'cache', worksheets: 'emit',
  });
  for await (const sheet of workbook) {
    let lines = [];
    const flush = async () => {
      if (lines.length === 0) return;
      const chunk = lines.join('');
      lines = [];
      if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
    };
    for await (const row of sheet) {
      const cells = Array.from(row.values ?? []).slice(1, columnsMax + 2).map(textOf);
      while (cells.length > 0 && cells.at(-1) === '') cells.pop();
      if (cells.length > 0) lines.push(JSON.stringify([sheet.name ?? '', row.number, cells]) + '\\n');
      if (lines.length >= 200) await flush();
    }
    await flush();
    if (!process.stdout.write(JSON.stringify([sheet.name ?? '', 0, []]) + '\\n')) await once(process.stdout, 'drain');
  }
}

main().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(String(error && error.message).slice(0, 500));
    process.exit(3);
  },
);
`;
