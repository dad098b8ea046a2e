import { fileTypeOf } from './file-type';

const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('the type of a file', () => {
  it.each<[string, string, string | undefined]>([
    ['a.png', '\x89PNG\r\n\x1a\n', 'image/png'],
    ['a.docx', 'PK\x03\x04', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    ['a.zip', 'PK\x03\x04', 'application/zip'],
    ['a.png', 'PK\x03\x04', 'application/zip'],
    ['a.heic', '\0\0\0\x18ftypheic', 'image/heic'],
    ['a.mp4', '\0\0\0\x18ftypisom', 'video/mp4'],
    ['a.pdf', '%PDF-1.7', 'application/pdf'],
    ['a.csv', 'a;b', 'text/csv'],
    ['a.html', '<script>alert(1)</script>', 'text/plain'],
    ['a.pdf', 'plain', 'text/plain'],
    ['a.exe', 'MZ\x90\0', undefined],
    ['a.so', '\x7fELF', undefined],
    ['a.sh', '#!/bin/sh', undefined],
    ['a.class', '\xca\xfe\xba\xbe', undefined],
  ])('of %s that begins with %j is %s', (name, start, type) => {
    expect(fileTypeOf(bytes(start), name)).toBe(type);
  });

  it('is text when only its last character is cut off', () => {
    expect(fileTypeOf(Buffer.from('späß').subarray(0, -1), 'a.txt')).toBe('text/plain');
  });
});
