import { extname, join } from 'node:path';

/** The program that reads a workbook: beside this file, as source and as built. */
export const workbookReaderProgram = join(__dirname, `workbook-reader${extname(__filename)}`);
