export { executeExport } from './execute-export';
export { executeImport } from './execute-import';
