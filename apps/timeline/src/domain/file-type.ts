import type { AttachableType } from '@plinth/contracts/timeline/shapes';

/** How many bytes of a file are enough to recognize its type. */
export const HEAD_LENGTH = 4_096;

interface Signature {
  mimeType: AttachableType;
  /** Latin-1 text that stands at the offset; several where the format has variants. */
  magic: readonly string[];
  offset?: number;
}

const signatures: readonly Signature[] = [
  { mimeType: 'image/png', magic: ['\x89PNG\r\n\x1a\n'] },
  { mimeType: 'image/jpeg', magic: ['\xff\xd8\xff'] },
  { mimeType: 'image/gif', magic: ['GIF87a', 'GIF89a'] },
  { mimeType: 'image/webp', magic: ['WEBP'], offset: 8 },
  { mimeType: 'image/tiff', magic: ['II*\0', 'MM\0*'] },
  { mimeType: 'image/bmp', magic: ['BM'] },
  { mimeType: 'image/heic', magic: ['ftypheic', 'ftypheix', 'ftypmif1'], offset: 4 },
  { mimeType: 'image/avif', magic: ['ftypavif'], offset: 4 },
  { mimeType: 'video/mp4', magic: ['ftyp'], offset: 4 },
  { mimeType: 'video/webm', magic: ['\x1a\x45\xdf\xa3'] },
  { mimeType: 'audio/mpeg', magic: ['ID3', '\xff\xfb'] },
  { mimeType: 'audio/ogg', magic: ['OggS'] },
  { mimeType: 'audio/wav', magic: ['WAVE'], offset: 8 },
  { mimeType: 'application/pdf', magic: ['%PDF-'] },
  { mimeType: 'application/gzip', magic: ['\x1f\x8b'] },
  { mimeType: 'application/zip', magic: ['PK\x03\x04', 'PK\x05\x06'] },
  { mimeType: 'application/x-ole-storage', magic: ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'] },
];

/** What an office container holds follows from the file name; its content is not checked. */
const typeInContainer: Record<string, Record<string, AttachableType>> = {
  'application/zip': {
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    odt: 'application/vnd.oasis.opendocument.text',
    ods: 'application/vnd.oasis.opendocument.spreadsheet',
    odp: 'application/vnd.oasis.opendocument.presentation',
  },
  'application/x-ole-storage': {
    doc: 'application/msword',
    xls: 'application/vnd.ms-excel',
    ppt: 'application/vnd.ms-powerpoint',
    msg: 'application/vnd.ms-outlook',
  },
};

const typeOfText: Record<string, AttachableType> = {
  csv: 'text/csv',
  json: 'application/json',
  md: 'text/markdown',
};

/**
 * Recognizes the type of a file by its content; undefined for what is not accepted: programs, and files that are
 * neither of a known format nor text. The name only distinguishes types whose content looks the same.
 */
export function fileTypeOf(head: Buffer, fileName: string): AttachableType | undefined {
  const extension = /\.([a-z0-9]{1,10})$/i.exec(fileName)?.[1]?.toLowerCase() ?? '';
  const start = head.toString('latin1', 0, 64);
  const found = signatures.find(({ magic, offset = 0 }) =>
    magic.some((text) => start.startsWith(text, offset)),
  );
  if (found) return typeInContainer[found.mimeType]?.[extension] ?? found.mimeType;
  if (!isText(head) || start.startsWith('#!')) return undefined;
  return typeOfText[extension] ?? 'text/plain';
}

/** UTF-8 without control characters other than those of text; the last character may be cut off. */
function isText(head: Buffer): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });

    return !/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/.test(text);
  } catch {
    return false;
  }
}
