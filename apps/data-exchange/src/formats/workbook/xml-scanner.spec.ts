import fc from 'fast-check';
import { attributeOf, XmlScanner } from './xml-scanner';

/** What a document says, however it is cut. */
function scannedEvents(xml: string, chunkLength = xml.length): string[] {
  const scanned: string[] = [];
  let text = '';
  const flush = () => {
    if (text !== '') scanned.push(`"${text}"`);
    text = '';
  };
  const scanner = new XmlScanner({
    open: (name) => (flush(), scanned.push(`<${name}>`)),
    text: (piece) => (text += piece),
    close: (name) => (flush(), scanned.push(`</${name}>`)),
  });
  for (let at = 0; at < xml.length; at += chunkLength) scanner.push(xml.slice(at, at + chunkLength));
  scanner.end();
  return scanned;
}

const document =
  '<?xml version="1.0"?>\r\n<x:a b="1>2" c=\'"\'><!-- <no> --><d/>1 &lt; 2 &#x1F600;&amp;amp;\r\n<![CDATA[<&]]></x:a>';

describe('XmlScanner', () => {
  it('reads the same document however it is divided into chunks', () => {
    const whole = ['<a>', '<d>', '</d>', '"1 < 2 😀&amp;\n<&"', '</a>'];
    expect(scannedEvents(document)).toEqual(whole);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), (length) => {
        expect(scannedEvents(document, length)).toEqual(whole);
      }),
    );
  });

  it.each([
    '',
    'x',
    '<a>',
    '<a></b>',
    '<a>&x;</a>',
    '<a>& </a>',
    '<!DOCTYPE a><a/>',
    '<a b=c></a',
    '<a/>x',
    '<a><!-- </a>',
  ])('refuses %j', (xml) => {
    expect(() => scannedEvents(xml)).toThrow(/workbook/);
  });

  it('finds attributes with any prefix', () => {
    const read: (string | undefined)[] = [];
    const scanner = new XmlScanner({
      open: (_name, attributes) => read.push(...['id', 'name'].map((name) => attributeOf(attributes, name))),
    });
    scanner.push(`<a r:id="rId1" name='a &amp; b' xid="2"><b xid="2"/></a>`);
    scanner.end();

    expect(read).toEqual(['rId1', 'a & b', undefined, undefined]);
  });
});
