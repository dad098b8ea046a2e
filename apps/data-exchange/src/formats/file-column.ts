/** A column of a file that is written. */
export interface FileColumn {
  property: string;
  header: string;
  type: string;
}
