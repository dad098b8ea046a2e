import { composed } from '@plinth/kernel/composed';

const FILE_NAME_LENGTH_MAX = 255;
/** A character is composed of at most four (Unicode 17). */
const DECOMPOSED_LENGTH_MAX = 4 * FILE_NAME_LENGTH_MAX;

/** A file name without folders and without characters that are special in file systems or headers. */
export function cleanFileName(name: string): string {
  const last = name.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const clean = last.replace(/[\p{Cc}\p{Cf}]/gu, '').trim();
  const end = [...clean].slice(-DECOMPOSED_LENGTH_MAX).join('');
  return [...(composed(end) ?? end)].slice(-FILE_NAME_LENGTH_MAX).join('') || 'file';
}
