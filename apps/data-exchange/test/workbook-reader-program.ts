import { bundledProgram } from '@plinth/testing/bundled-program';

/**
 * What jest gives the specs in the place of the sources' own: the program as the build makes it. Processes without an
 * environment, which these are, compile sources anew at each start; hundreds of them start in the specs.
 */
export const workbookReaderProgram = bundledProgram('apps/data-exchange/src/formats/workbook-reader.ts');
