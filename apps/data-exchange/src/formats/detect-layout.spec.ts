import { Readable } from 'node:stream';
import fc from 'fast-check';
import Papa from 'papaparse';
import { atOnce } from '@plinth/exchange/in-turns';
import { FormatDetector } from './detect-format';
import { headerRowsOf } from './detect-layout';
import type { CsvFormat } from './file-format';
import { readCsv } from './read-csv';

const formatOf = (text: string): CsvFormat => {
  const detector = new FormatDetector();
  detector.push(Buffer.from(text));
  const detection = atOnce(detector.end());
  if (detection.found !== 'text') throw new Error(detection.found);
  return detection.format;
};

/** The least of some times in which the processor finds the format of a text: of a busy machine's other work it knows little. */
const processorTimeOf = (text: string): number =>
  Math.min(
    ...Array.from({ length: 3 }, () => {
      const before = process.cpuUsage();
      formatOf(text);
      return process.cpuUsage(before).user;
    }),
  );

const read = async (text: string, format = formatOf(text)) => {
  const file = await readCsv(Readable.from([Buffer.from(text)]), format);
  const rows: [number, ...string[]][] = [];
  for await (const piece of file.rows)
    for (const { number, cells, error } of piece) rows.push([number, ...(error ? [error] : cells)]);
  return { headers: file.headers, rows, findings: format.findings?.map(({ code }) => code) ?? [] };
};

describe('the header of a wide table', () => {
  it('is compared with the rows below it in steps', () => {
    const cells = Array.from({ length: 1_000 }, (_, at) => `A${at}`);
    const table = Array.from({ length: 200 }, (_, at) => ({ number: at + 1, cells }));
    expect([...headerRowsOf(table, cells.length)].length).toBeGreaterThanOrEqual(19);
  });
});

describe('a text file', () => {
  it.each<[string, string, { headers: string[]; first: unknown[]; findings: string[]; count?: number }]>([
    [
      'with lines of text above the header',
      'Sales of March\n\nMade by Ada\nname,city,sum\nAda,Paris,1\nBob,Rome,2\nEve,Bonn,3\n',
      { headers: ['name', 'city', 'sum'], first: [5, 'Ada', 'Paris', '1'], findings: ['Preamble'] },
    ],
    [
      'with text above the header that the usual delimiter is not in',
      'Report\nVersion 2\n\nname;sum\nAda;1\nBob;2\nEve;3\n',
      { headers: ['name', 'sum'], first: [5, 'Ada', '1'], findings: ['Preamble'] },
    ],
    [
      'with the line that names the delimiter above two columns',
      'sep=;\nname;sum\nAda;1,5\nBob;2,5\nEve;3,5\n',
      { headers: ['name', 'sum'], first: [3, 'Ada', '1,5'], findings: ['Preamble'] },
    ],
    [
      'with the line that names the delimiter above one column',
      'sep=;\nname\nAda, Paris\nBob, Rome\n',
      { headers: ['name'], first: [3, 'Ada, Paris'], findings: ['Preamble'], count: 2 },
    ],
    [
      'with the line that names the delimiter above another line of text',
      '"sep=;"\nSales\n\nname;city;sum\nAda;Paris;1\nBob;Rome;2\nEve;Bonn;3\n',
      { headers: ['name', 'city', 'sum'], first: [5, 'Ada', 'Paris', '1'], findings: ['Preamble'] },
    ],
    [
      'with text above the header that is padded to the columns',
      'Report,,\n,,\nname,city,sum\nAda,Paris,1\nBob,Rome,2\n',
      { headers: ['name', 'city', 'sum'], first: [4, 'Ada', 'Paris', '1'], findings: ['Preamble'] },
    ],
    [
      'with a line about the file that is wider than the table',
      '"EXTF";700;"Debitoren";5;;"RE"\nKonto;Name;Ort\n10010;Schmidt;Bonn\n10011;Weber;Ulm\n10012;Koch;Jena\n',
      { headers: ['Konto', 'Name', 'Ort'], first: [3, '10010', 'Schmidt', 'Bonn'], findings: ['Preamble'] },
    ],
    [
      'with a delimiter too many behind a header of numbered names',
      'Name,Address1,City,\nAda,Rue X,Paris\nBob,Via Y,Rome\nEve,Am Z,Bonn\n',
      {
        headers: ['Name', 'Address1', 'City', 'Column 4'],
        first: [2, 'Ada', 'Rue X', 'Paris'],
        findings: [],
      },
    ],
    [
      'with a year in a header that is wider than its rows',
      'Country,Capital,2024,\nFrance,Paris,big\nItaly,Rome,old\nGermany,Berlin,new\n',
      {
        headers: ['Country', 'Capital', '2024', 'Column 4'],
        first: [2, 'France', 'Paris', 'big'],
        findings: [],
      },
    ],
    [
      'with an amount in a header that is wider than its rows of texts',
      'Name;Below;1000;Notes\nAda;yes;no\nBob;no;no\nEve;no;yes\n',
      { headers: ['Name', 'Below', '1000', 'Notes'], first: [2, 'Ada', 'yes', 'no'], findings: [] },
    ],
    [
      'with units below a header of numbered names that is wider',
      'Name,Batch1,Weight,\nall,all,kg\nAda,red,1\nBob,blue,2\nEve,grey,3\n',
      {
        headers: ['Name', 'Batch1', 'Weight', 'Column 4'],
        first: [2, 'all', 'all', 'kg'],
        findings: [],
      },
    ],
    [
      'with another table whose blank names are shared',
      'name,city,,\nAda,Paris,,\nBob,Rome,,\nEve,Bonn,,\ncity,name,,\nUlm,Kim,,\nLyon,Lea,,\n',
      {
        headers: ['name', 'city', 'Column 3', 'Column 4'],
        first: [2, 'Ada', 'Paris', '', ''],
        findings: ['Tables'],
      },
    ],
    [
      'with formulas that keep zeros in front',
      'code,name\n="007",Ada\n="008",=1+1\n',
      { headers: ['code', 'name'], first: [2, '007', 'Ada'], findings: [] },
    ],
    [
      'that is padded with blank columns and rows',
      `name,city,,\nAda,Paris,,\nBob,Rome,,\nEve,Bonn,,\n${',,,\n'.repeat(5)}`,
      {
        headers: ['name', 'city', 'Column 3', 'Column 4'],
        first: [2, 'Ada', 'Paris', '', ''],
        findings: [],
      },
    ],
    [
      'without a header',
      'Ada,1.50,2026-03-04\nBob,2.50,2026-03-05\nEve,3.50,2026-03-06\n',
      {
        headers: ['Column 1', 'Column 2', 'Column 3'],
        first: [1, 'Ada', '1.50', '2026-03-04'],
        findings: ['NoHeader'],
      },
    ],
    [
      'whose header has fewer cells than its rows',
      'name,sum\nAda,1,\nBob,2,\nEve,3,x\n',
      { headers: ['name', 'sum', 'Column 3'], first: [2, 'Ada', '1', ''], findings: ['WiderRows'] },
    ],
    [
      'with single quotes',
      "'name','city'\n'O''Hara','Paris, France'\n'Bob','Rome'\n",
      { headers: ['name', 'city'], first: [2, "O'Hara", 'Paris, France'], findings: ['Quote'] },
    ],
    [
      'with a blank behind each delimiter',
      'name, city\nAda, "Paris, France"\nBob, Rome\nEve, Bonn\n',
      { headers: ['name', 'city'], first: [2, 'Ada', 'Paris, France'], findings: ['Blanks'] },
    ],
    [
      'whose headers are years',
      'name,2024,2025\nAda,1,2\nBob,3,4\nEve,5,6\n',
      { headers: ['name', '2024', '2025'], first: [2, 'Ada', '1', '2'], findings: [] },
    ],
    [
      'of one column, with commas in its texts',
      'name\nLovelace, Ada\nBabbage, Charles\nKing, Ada\n',
      { headers: ['name'], first: [2, 'too-many-cells'], findings: [] },
    ],
    [
      'with a header of two rows',
      'Region,2024,,2025,\n,Sold,Sent back,Sold,Sent back\nNorth,1,2,3,4\nSouth,5,6,7,8\nWest,9,1,2,3\n',
      {
        headers: ['Region', '2024 Sold', '2024 Sent back', '2025 Sold', '2025 Sent back'],
        first: [3, 'North', '1', '2', '3', '4'],
        findings: ['HeaderRows'],
      },
    ],
    [
      'with units below its header',
      'name,weight,length\n,kg,m\nAda,1,2\nBob,3,4\nEve,5,6\n',
      {
        headers: ['name', 'weight kg', 'length m'],
        first: [3, 'Ada', '1', '2'],
        findings: ['HeaderRows'],
      },
    ],
    [
      'whose header is there three times',
      'name,sum\nname,sum\nname,sum\nAda,1\nBob,2\nEve,3\n',
      { headers: ['name', 'sum'], first: [4, 'Ada', '1'], findings: ['HeaderRows'] },
    ],
    [
      'with another table below a blank line',
      'name,sum\nAda,1\nBob,2\nEve,3\n\ncode,city,since\nA,Paris,2024\nB,Rome,2025\n',
      { headers: ['name', 'sum'], first: [2, 'Ada', '1'], findings: ['Tables'] },
    ],
    [
      'whose values are the names of its columns',
      'key,open,paid\nA,open,paid\nB,open,paid\nC,open,paid\n',
      { headers: ['key', 'open', 'paid'], first: [2, 'A', 'open', 'paid'], findings: [] },
    ],
    [
      'whose header is there again, before more rows',
      'name,sum\nAda,1\nBob,2\nname,sum\nEve,3\n',
      { headers: ['name', 'sum'], first: [2, 'Ada', '1'], findings: ['RepeatedHeader'] },
    ],
    [
      'with text below the table',
      'name,city,sum\nAda,Paris,1\nBob,Rome,2\nEve,Bonn,3\n\nAs of March\n',
      { headers: ['name', 'city', 'sum'], first: [2, 'Ada', 'Paris', '1'], findings: ['Footnote'] },
    ],
    [
      'with a total that is the sum of its column',
      'name,city,sum\nAda,Paris,1\nBob,Rome,"2,000.50"\nEve,Bonn,3\nTotal,,"2,004.50"\n',
      { headers: ['name', 'city', 'sum'], first: [2, 'Ada', 'Paris', '1'], findings: ['Totals'], count: 3 },
    ],
    [
      'with a total below a ruled line, and text below it',
      'name;city;sum\nAda;Paris;1,00 €\nBob;Rome;2,00 €\nEve;Bonn;3,00 €\n---;---;---\nSumme:;;6,00 €\n===;===;===\n\nAs of March;;\n',
      {
        headers: ['name', 'city', 'sum'],
        first: [2, 'Ada', 'Paris', '1,00 €'],
        findings: ['Totals', 'Footnote'],
        count: 3,
      },
    ],
    [
      'whose last company is called Total',
      'name,city,sum\nAcme,Paris,1\nGlobex,Rome,2\nTotal,Paris,5\n',
      { headers: ['name', 'city', 'sum'], first: [2, 'Acme', 'Paris', '1'], findings: [], count: 3 },
    ],
    [
      'whose last row has only one number, that is no sum',
      'name,city,sum\nAda,Paris,1\nBob,Rome,2\n,,4\n',
      { headers: ['name', 'city', 'sum'], first: [2, 'Ada', 'Paris', '1'], findings: [], count: 3 },
    ],
    [
      'with blanks between cells',
      'name  city   sum\nAda   Paris  1\nBob   "New York" 2 \nEve   Bonn   3\n',
      { headers: ['name', 'city', 'sum'], first: [2, 'Ada', 'Paris', '1'], findings: ['BlankDelimiter'] },
    ],
    [
      'with a backslash before quotes in cells',
      'name,says\nAda,"a \\"b\\", c\\\\"\nBob,"d"\nEve,"e"\n',
      { headers: ['name', 'says'], first: [2, 'Ada', 'a "b", c\\'], findings: ['Escape'] },
    ],
    [
      'with a NUL before quotes in cells',
      'name,says\nAda,"a \0"b\0", c"\nBob,"d"\nEve,"e"\n',
      { headers: ['name', 'says'], first: [2, 'Ada', 'a "b", c'], findings: ['Escape'] },
    ],
    [
      'with nothing before quotes in cells',
      'name,table,sum\nAda,"round 48"",1\nBob,"square, 20"",2\nEve,"oval",3\n',
      { headers: ['name', 'table', 'sum'], first: [2, 'Ada', 'round 48"', '1'], findings: ['Escape'] },
    ],
    [
      'with a quote that is opened and belongs to the text',
      'name,city,says\nAda,"Paris,"a, b"\nBob,Rome,"c, d"\nEve,Bonn,"e, f"\n',
      { headers: ['name', 'city', 'says'], first: [2, 'Ada', '"Paris', 'a, b'], findings: [] },
    ],
    [
      'whose last cells are folders',
      'name,folder,sum\nAda,"C:\\",1\nBob,"D:\\",2\nEve,"E:\\",3\n',
      { headers: ['name', 'folder', 'sum'], first: [2, 'Ada', 'C:\\', '1'], findings: [] },
    ],
    [
      'with a row that does not fit its columns',
      'code,name,stock\nA,One,many\nB,Two,1\nC,Three,2\nD,Four,3\n',
      { headers: ['code', 'name', 'stock'], first: [2, 'A', 'One', 'many'], findings: [] },
    ],
    [
      'with words for nothing beside a number in its first row',
      'id;name;stock;price\n2;Ada;none;unknown\n3;Bob;4;5.50\n4;Eve;7;8.50\n5;Kim;9;1.50\n',
      { headers: ['id', 'name', 'stock', 'price'], first: [2, '2', 'Ada', 'none', 'unknown'], findings: [] },
    ],
    ['of a header only', 'name,city\n', { headers: ['name', 'city'], first: [], findings: [] }],
  ])('%s', async (_name, text, { headers, first, findings, count }) => {
    const found = await read(text);
    if (count !== undefined) expect(found.rows).toHaveLength(count);

    expect(found.findings).toEqual(findings);
    expect(found.headers).toEqual(headers);
    expect(found.rows[0] ?? []).toEqual(first);
  });

  it.each([
    ['ids add up and nothing else is filled', 'externalId;creditLimit\n1;\n2;\n3;\n'],
    ['prices add up and a column is empty', 'sku,price,stock\n1,10,\n2,20,\n3,30,\n'],
    ['prices add up and the last column is empty', 'code;price;note\n1;10;\n2;20;\n3;30;\n'],
    ['prices add up and the first column is empty', 'x;code;price\n;1;10\n;2;20\n;3;30\n'],
    ['nothing names what adds up', 'title;a;b\nX;1;\nY;1;\n;2;\n'],
    [
      'all columns of numbers add up',
      'name,city,sum,paid\nAda,Paris,1,1\nBob,Rome,2,1\nEve,Bonn,3,2\n,,6,4\n',
    ],
    ['Total has only one number that is a sum', 'name;number;sum\nAcme;1;5\nGlobex;2;7\nTotal;3;20\n'],
    ['Total stands below a blank line', 'name;number;sum\nAcme;1;5\nGlobex;2;7\n\nTotal;900;20\n'],
    [
      'Total stands below a ruled line',
      'name;city;sum\nAcme;Rome;5\nGlobex;Bonn;7\n---;---;---\nTotal;;20\n',
    ],
    ['Total is a sum by chance', 'name;sum\nAcme;5\nGlobex;7\nTotal;12\n'],
    ['Total has a zero as all have', 'name;sum\nAcme;0\nGlobex;0\nInitech;0\nTotal;0\n'],
    ['marks are stars', 'quality,service\n***,****\n****,***\n'],
    ['marks are signs', 'quality,service\n+++,++\n~~~,~~~\n+++,+++\n'],
    ['a mark is a line', 'quality,service\ngood,poor\npoor,good\n---,\n'],
    ['Total is the next of two', 'id;name;city\n1;Acme;Rome\n2;Globex;Bonn\n3;Total;\n'],
    ['Total is the next of three', 'id;name;city\n0;Acme;Rome\n1;Globex;Bonn\n2;Initech;Ulm\n3;Total;\n'],
    ['Total stands below two rows and a blank one', 'name;sum\n;\nAcme;5\nGlobex;7\nTotal;12\n'],
    ['Total stands below two rows and a mark', 'sum;name;note\n5;---;\n;---;\n7;---;\n12;Total;\n'],
    ['Total has the only amount again', 'name;sum\nAcme;0\nGlobex;0\nInitech;500\nTotal;500\n'],
    ['all marks are lines', 'quality;note\n---;\n---;\n---;\n'],
    ['all marks are lines of two kinds', 'sku;price\n---;\n===;\n'],
    ['only one column is filled above a line', 'code;name;city\n;;b\n;;b\n;;b\n;;b\n;;---\n'],
  ])('keeps its last row where %s', async (_name, text) => {
    const { rows, findings } = await read(text);
    const lines = text.trimEnd().split('\n');

    expect(findings).not.toContain('Totals');
    expect(rows.at(-1)).toEqual([lines.length, ...lines.at(-1)!.split(/[,;]/)]);
  });

  it.each(['3', '3.5', '-', '2026-03-04', 'A-3', 'ada@example.org'])(
    'keeps a row of %s alone below a blank line',
    async (cell) => {
      const text = `externalId;name;city\n1;Ada;Rome\n2;Bob;Bonn\n\n${cell};;\n`;
      const { rows, findings } = await read(text);

      expect(findings).toEqual([]);
      expect(rows).toEqual([
        [2, '1', 'Ada', 'Rome'],
        [3, '2', 'Bob', 'Bonn'],
        [5, cell, '', ''],
      ]);
    },
  );

  it.each([
    ['three rows', 'name;number;sum\nAcme;1;5\nGlobex;2;7\nInitech;;8\nTotal;3;20\n', 3],
    ['rows that are counted', 'id;name;sum\n0;Acme;5\n1;Globex;7\n2;Initech;8\n3;Total;20\n', 3],
  ])('leaves out Total below %s', async (_name, text, count) => {
    const { rows, findings } = await read(text);

    expect(findings).toEqual(['Totals']);
    expect(rows).toHaveLength(count);
  });

  const word = fc.stringMatching(/^[a-z]{2,8}$/);
  /** Never a value of a cell, which would be a header that is repeated. */
  const name = fc.stringMatching(/^[a-z]{2,8}_[a-z]{2,8}$/);
  /** A column has values of one kind: a text above numbers may be a header. */
  const tableWith = (text: string) => {
    const column = fc.constantFrom(
      fc.oneof(word, fc.constant(''), fc.constant(text)),
      fc.oneof(fc.integer({ min: 0, max: 9_999 }).map(String), fc.constant('')),
    );
    return fc.array(column, { minLength: 1, maxLength: 5 }).chain((columns) =>
      fc.record({
        header: fc.uniqueArray(name, { minLength: columns.length + 1, maxLength: columns.length + 1 }),
        rows: fc.array(fc.tuple(word, ...columns), { minLength: 6, maxLength: 20 }),
        delimiter: fc.constantFrom(',', ';', '\t', '|'),
      }),
    );
  };

  it('that is clean is read as it is, and nothing is found', async () => {
    await fc.assert(
      fc.asyncProperty(tableWith('a, "b"'), async ({ header, rows, delimiter }) => {
        const found = await read(`${Papa.unparse([header, ...rows], { delimiter })}\r\n`);

        expect(found.findings).toEqual([]);
        expect(found.headers).toEqual(header);
        expect(found.rows).toEqual(rows.map((row, index) => [index + 2, ...row]));
      }),
    );
  });

  it('with text above its header is read as without it, and rows keep their numbers', async () => {
    // Lines above hide how wide the table is, so that commas in its texts could be taken for its delimiter.
    const preamble = fc.array(fc.stringMatching(/^[A-Z][a-z ]{3,20}$/), { minLength: 2, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(tableWith('a "b"'), preamble, async ({ header, rows, delimiter }, lines) => {
        const text = `${lines.join('\r\n')}\r\n${Papa.unparse([header, ...rows], { delimiter })}\r\n`;
        const found = await read(text);

        expect(found.headers).toEqual(header);
        expect(found.rows).toEqual(rows.map((row, index) => [index + 2 + lines.length, ...row]));
      }),
    );
  });

  it.each([
    ['with gaps between all of its rows', 'name,city\n' + 'a,b\n\n'.repeat(13_000)],
    ['with one row that is very wide', `${'a,'.repeat(999)}a\n${'b,c\n'.repeat(15_000)}`],
    ['with very many totals', `name,sum\n${'a,1\n'.repeat(13_000)}${totals(13_000n, 190)}`],
    [
      'with totals of very many columns',
      `name,sum\n${',1\n'.repeat(10_000)}${totals(10_000n, 15, ',0'.repeat(997))}`,
    ],
    ['with very many lines that name the delimiter', 'sep=,\n'.repeat(11_000)],
  ])('is looked at almost as quickly as any other, %s', (_, text) => {
    const head = text.slice(0, 65_000);
    const usual = Array.from({ length: 4_000 }, (_row, row) => `name ${row},city ${row},${row}\n`).join('');

    expect(formatOf(head).delimiter).toBe(',');
    // Times that the same processor takes for both, however fast it is.
    expect(processorTimeOf(head)).toBeLessThan(30 * processorTimeOf(usual.slice(0, 65_000)));
  });
});

/** Rows that each are the sum of all rows above. */
function totals(sum: bigint, count: number, further = ''): string {
  let rows = '';
  for (let row = 0; row < count; row++) {
    rows += `Total,${sum}${further}\n`;
    sum *= 2n;
  }
  return rows;
}
