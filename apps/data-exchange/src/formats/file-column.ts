/** A column of a file that is written. */
export interface FileColumn {
  property: string;
  header: string;
  type: string;
}

/** Whether a column of this type contains numbers, which owners send as text to keep all digits. */
export const isNumeric = (type: string): boolean => type === 'number' || type === 'integer';
