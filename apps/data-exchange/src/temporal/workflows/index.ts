export { executeExport } from './execute-export';
export { executeImport } from './execute-import';
export { undoImport } from './undo-import';
