import fc from 'fast-check';
import iconv from 'iconv-lite';
import { atOnce } from '@plinth/exchange/in-turns';
import { FormatDetector } from './detect-format';
import type { CsvFormat } from './file-format';

const detect = (bytes: Buffer | string, chunkLength = 7) => {
  const detector = new FormatDetector();
  const buffer = Buffer.from(bytes as string);
  for (let at = 0; at < buffer.length; at += chunkLength)
    detector.push(buffer.subarray(at, at + chunkLength));
  return atOnce(detector.end());
};

const formatOf = (bytes: Buffer | string): Partial<CsvFormat> => {
  const detection = detect(bytes);
  if (detection.found !== 'text') throw new Error(detection.found);
  return detection.format;
};

const text = 'name;city\r\nZoë;Besançon\r\nJürgen;Köln\r\n';

describe('FormatDetector', () => {
  it('detects in many steps', () => {
    const detector = new FormatDetector();
    detector.push(Buffer.from('a,b\n'.repeat(25_000)));
    const steps = detector.end();
    let count = 0;
    while (!steps.next().done) count++;

    expect(count).toBeGreaterThan(20);
  });

  it('takes the delimiter by which quotes are closed, whatever they are by others', () => {
    expect(formatOf('\n"| '.repeat(16_000))).toMatchObject({ delimiter: '|' });
    expect(() => formatOf('\n"x '.repeat(16_000))).toThrow('never closed');
  });

  it('finds the table by the right delimiter, however many quotes are unclosed by others', () => {
    const rows = Array.from({ length: 3_300 }, (_, index) =>
      index % 20 === 19 ? `"Best" of us ${index};"a${index}";${index};` : `"Widget ${index}";"b${index}";1;`,
    );
    const format = formatOf(['Name;Code;Amount', ...rows, ''].join('\n'));
    expect(format).toMatchObject({ delimiter: ';', columnCount: 4, findings: [{ code: 'WiderRows' }] });
  });

  it('takes few cells and quotes in one step, and in all, of a head whose quotes are never closed', () => {
    const detector = new FormatDetector();
    detector.push(Buffer.from(`${'"a"b"c"d"e"f;'.repeat(60)}\n`.repeat(80)));
    const { indexOf } = String.prototype;
    let count = 0;
    // A spy of jest would remember millions of calls, which takes most of the time.
    String.prototype.indexOf = function (...searched) {
      count++;
      return indexOf.apply(this, searched);
    };
    const searches: number[] = [];
    try {
      const detection = detector.end();
      for (let done = false; !done;) {
        count = 0;
        done = detection.next().done!;
        searches.push(count);
      }
    } finally {
      String.prototype.indexOf = indexOf;
    }

    expect(Math.max(...searches)).toBeLessThan(250_000);
    expect(searches.reduce((sum, count) => sum + count, 0)).toBeLessThan(10_000_000);
  });

  it.each([
    ['utf-8', false, 'utf-8'],
    ['utf-8', true, 'utf-8'],
    ['utf-16le', true, 'utf-16le'],
    ['utf-16be', true, 'utf-16be'],
    ['utf-16le', false, 'utf-16le'],
    ['utf-16be', false, 'utf-16be'],
    ['windows-1252', false, 'windows-1252'],
    ['latin1', false, 'windows-1252'],
  ])('detects %s (byte order mark: %s) as %s', (encoding, addBOM, expected) => {
    expect(formatOf(iconv.encode(text, encoding, { addBOM }))).toMatchObject({
      encoding: expected,
      hasByteOrderMark: addBOM,
      delimiter: ';',
      hasInvalidBytes: false,
    });
  });

  it.each([
    ['windows-1250', 'Wiśniewski;Łódź;Żółty rower i źdźbło: gęś łączy wąską ścieżkę, żółć'],
    [
      'iso-8859-2',
      'Růžička;Plzeň;Žluťoučký kůň úpěl ďábelské ódy u Žižkova, věřil třem řekám a měl šťastný den v září',
    ],
    ['windows-1251', 'Иванов;Москва;Книга о горах'],
    ['koi8-r', 'Петрова;Казань;Электричество'],
    ['windows-1253', 'Παπαδόπουλος;Θεσσαλονίκη;Βιβλίο'],
    ['shift_jis', '田中太郎;東京都;青い自転車'],
    ['gb18030', '王小明;北京市;山的书和自行车'],
    ['euc-kr', '김민수;서울;산의 책과 카메라'],
  ])('guesses %s from letters, and says that it is a guess', (encoding, letters) => {
    const content = `code;name;city;title\r\n${'A;Smith;Paris;Lamp\r\n'.repeat(30)}B;${letters}\r\n`;
    expect(formatOf(iconv.encode(content, encoding))).toMatchObject({
      encoding,
      delimiter: ';',
      findings: [{ code: 'Encoding', args: [encoding] }],
    });
  });

  it.each([
    'Besançon;Hélène',
    'München;Größe',
    'Muñoz;Córdoba;El niño comió jamón en el año del cigüeñal',
    'é',
  ])('takes %s for Windows-1252 without a word', (letters) => {
    const { encoding, findings } = formatOf(iconv.encode(`name;city\r\n${letters}\r\n`, 'latin1'));
    expect([encoding, findings]).toEqual(['windows-1252', undefined]);
  });

  it('takes words of Western languages for Windows-1252, however few', () => {
    const words =
      'été déjà façade crème brûlée où œuvre Müller Straße schön größe Über España Núñez niño corazón São coração não ' +
      'Ångström Malmö Växjö Smørrebrød Århus Søren 10€ “Café” ¿qué? naïve João';
    const some = fc.array(fc.constantFrom(...words.split(' ')), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(some, (chosen) => {
        const content = iconv.encode(`name;city\r\n${chosen.join(';\r\n')};\r\n`, 'windows-1252');
        expect(formatOf(content).encoding).toBe('windows-1252');
      }),
    );
  });

  it('detects Windows-1252 when a single late byte is no UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from(`a,b\n${'x,y\n'.repeat(50_000)}`),
      Buffer.from([0xe9]),
      Buffer.from(',z\n'),
    ]);
    expect(formatOf(bytes)).toMatchObject({ encoding: 'windows-1252' });
  });

  it('trusts a byte order mark, and reports bytes that contradict it', () => {
    const bytes = Buffer.concat([
      Buffer.from('efbbbf', 'hex'),
      Buffer.from('a,b\n'),
      Buffer.from([0xe9, 0x0a]),
    ]);
    expect(formatOf(bytes)).toMatchObject({ encoding: 'utf-8', hasInvalidBytes: true });
  });

  it.each([
    ['a,b\n1,2\n', ','],
    ['a;b\n"1,5";2\n', ';'],
    ['a\tb\n1\t2\n', '\t'],
    ['a|b\n1|2\n', '|'],
    ['"a,x";b\n1;2\n', ';'],
    ['name\nAda\n', ','],
    ['a,b;c,d\n1,2;3,4\n', ','],
  ])('detects in %j the delimiter %j', (bytes, delimiter) => {
    expect(formatOf(bytes).delimiter).toBe(delimiter);
  });

  it('reports a file without a character as empty', () => {
    expect(detect('').found).toBe('empty');
    expect(detect(' \r\n').found).toBe('empty');
    expect(detect('\ufeff').found).toBe('empty');
  });

  it.each([
    ['a PDF', Buffer.from('%PDF-1.7\n%....')],
    ['a PNG', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
    ['an old or encrypted workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
    ['a web page', Buffer.from('<!DOCTYPE html><html><table></table></html>')],
    ['JSON', Buffer.from('[{"a": 1}]')],
    ['bytes of no text', Buffer.from(Array.from({ length: 256 }, (_, index) => (index * 7) % 32))],
    ['a zip of something else', Buffer.from('504b030414000000', 'hex')],
  ])('reports that %s cannot be imported', (_name, bytes) => {
    expect(detect(bytes).found).toBe('unsupported');
  });

  it.each([
    ['41,156', '12,912', '79,02', { comma: 1, dot: 0, unsureComma: 3 }],
    ['611,111', '623,456', '1,259,519', { comma: 0, dot: 1, unsureComma: 3 }],
  ])('counts what only the total of %s and %s shows', (first, second, total, counts) => {
    const detection = detect(`name;sum\nAda;${first}\nBob;${second}\nEve;24,952\nTotal;${total}\n`);

    expect(detection).toMatchObject({ format: { findings: [{ code: 'Totals' }] }, evidence: counts });
  });

  it.each([
    [20, []],
    [20_000, [1, 2]],
  ])('tells columns that do not show what their dots mean, below %i rows without any', (count, unclear) => {
    const detection = detect(`preis;lat;menge\n${'1.234,50;;7\n'.repeat(count)}2,00;48,137;7\n`, 10_000);

    expect(detection).toMatchObject({ evidence: { unclearColumns: { ',': unclear } } });
  });
});
