import { defineProblems } from '@plinth/kernel/problem';

export const dataExchangeProblems = defineProblems({
  'exchange-definition-not-found': {
    kind: 'not-found',
    title: 'Definition not found',
    explanation:
      'No service exports or imports data under this name. The list of definitions shows which names there are.',
  },
  'export-job-not-found': {
    kind: 'not-found',
    title: 'Export job not found',
    explanation: 'There is no export job with this id in the tenant.',
  },
  'export-not-ready': {
    kind: 'conflict',
    title: 'Export not ready',
    explanation:
      'The file exists once the job is `Completed`. Read the job until it is, or subscribe to its events.',
  },
  'export-expired': {
    kind: 'gone',
    title: 'Export expired',
    explanation:
      'The file of an export is kept for some days (seven unless the operator says otherwise). Export again to get one of today.',
  },
  'export-already-ended': {
    kind: 'conflict',
    title: 'Export already ended',
    explanation: 'Only a job that is `Queued` or `Exporting` can be cancelled.',
  },
  'export-preset-not-found': {
    kind: 'not-found',
    title: 'Export preset not found',
    explanation:
      'You have no preset of this name for this definition. Presets belong to the user who saved them.',
  },
  'import-job-not-found': {
    kind: 'not-found',
    title: 'Import job not found',
    explanation: 'There is no import job with this id in the tenant.',
  },
  'import-in-wrong-state': {
    kind: 'conflict',
    title: 'Import in another state',
    explanation:
      'An import is uploaded, previewed, mapped and executed in this order. The detail says in which state the job is and ' +
      'which state this step needs.',
  },
  'import-not-undoable': {
    kind: 'conflict',
    title: 'Import cannot be undone',
    explanation:
      'What this definition imports cannot be taken back, or it was imported before that was possible. Import the former ' +
      'values instead.',
  },
  'import-already-undone': {
    kind: 'conflict',
    title: 'Import is undone already',
    explanation:
      'Somebody asked for it before. Read `GET /imports/{id}/undo` to see how far it is or how it ended.',
  },
  'import-rows-expired': {
    kind: 'gone',
    title: 'Failed rows expired',
    explanation:
      'The failed rows of an import are kept for some days (thirty unless the operator says otherwise). Its counts stay in the report.',
  },
  'import-undo-expired': {
    kind: 'gone',
    title: 'Too late to undo',
    explanation:
      'An import can be undone for some days after its end (seven unless the operator says otherwise); then its former values are forgotten.',
  },
  'import-not-undone': {
    kind: 'not-found',
    title: 'Import not undone',
    explanation: 'Nobody asked to undo this import.',
  },
  'import-file-unsupported': {
    kind: 'unsupported-media-type',
    title: 'Unsupported file',
    explanation:
      'Imports take text with separated columns (CSV, TSV) and xlsx workbooks. The content decides, not the name.',
  },
  'import-file-too-large': {
    kind: 'too-large',
    title: 'File too large',
    explanation:
      'The file is larger than this installation takes. Split it, or ask the operator to raise the limit.',
  },
  'import-file-unreadable': {
    kind: 'invalid',
    title: 'File cannot be read',
    explanation:
      'The file breaks a limit of columns, cells or records, or is damaged. The detail says where.',
  },
});
