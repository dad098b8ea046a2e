import fc from 'fast-check';
import { attributeOf, XmlScanner } from './xml-scanner';

/** What a document says, however it is cut. */
function tellOf(xml: string, chunkLength = xml.length): string[] {
  const told: string[] = [];
  let text = '';
  const flush = () => {
    if (text !== '') told.push(`"${text}"`);
    text = '';
  };
  const scanner = new XmlScanner({
    open: (name) => (flush(), told.push(`<${name}>`)),
    text: (piece) => (text += piece),
    close: (name) => (flush(), told.push(`</${name}>`)),
  });
  for (let at = 0; at < xml.length; at += chunkLength) scanner.push(xml.slice(at, at + chunkLength));
  scanner.end();
  return told;
}

const document =
  '<?xml version="1.0"?>\r\n<x:a b="1>2" c=\'"\'><!-- <no> --><d/>1 &lt; 2 &#x1F600;&amp;amp;\r\n<![CDATA[<&]]></x:a>';

describe('the XML scanner', () => {
  it('tells what a document says, however it is cut', () => {
    const whole = ['<a>', '<d>', '</d>', '"1 < 2 😀&amp;\n<&"', '</a>'];
    expect(tellOf(document)).toEqual(whole);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), (length) => {
        expect(tellOf(document, length)).toEqual(whole);
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
    expect(() => tellOf(xml)).toThrow(/workbook/);
  });

  it('finds attributes whatever their prefix', () => {
    const read: (string | undefined)[] = [];
    const scanner = new XmlScanner({
      open: (_name, attributes) => read.push(...['id', 'name'].map((name) => attributeOf(attributes, name))),
    });
    scanner.push(`<a r:id="rId1" name='a &amp; b' xid="2"><b xid="2"/></a>`);
    scanner.end();

    expect(read).toEqual(['rId1', 'a & b', undefined, undefined]);
  });
});
