/** A column of a file that is written. */
export interface FileColumn {
  property: string;
  header: string;
  type: string;
}

/** Whether a column of this type holds numbers, which owners send as text for the sake of their digits. */
export const isNumeric = (type: string): boolean => type === 'number' || type === 'integer';
