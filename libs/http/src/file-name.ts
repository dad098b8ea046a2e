const FILE_NAME_LENGTH_MAX = 255;

/** A file name without folders and without characters that are special in file systems or headers. */
export function cleanFileName(name: string): string {
  const last = name.toWellFormed().normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const clean = last.replace(/[\p{Cc}\p{Cf}]/gu, '').trim();
  return [...clean].slice(-FILE_NAME_LENGTH_MAX).join('') || 'file';
}
