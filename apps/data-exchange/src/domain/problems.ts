import { dataExchangeProblems } from '@plinth/contracts/data-exchange/problems';
import { PRESET_BYTES_MAX, PRESETS_MAX } from '@plinth/contracts/data-exchange/shapes';
import { quotaExceeded } from '@plinth/contracts/platform/problems';
import { forbidden, invalid, Problem, type ProblemKind } from '@plinth/kernel/problem';

const passingKinds: readonly ProblemKind[] = ['limited', 'upstream', 'overloaded', 'timed-out'];

/** Whether the same may succeed later, however often it failed. */
export const mayPass = ({ kind }: Problem): boolean => passingKinds.includes(kind);

export const definitionNotFound = (name: string): Problem =>
  dataExchangeProblems['exchange-definition-not-found'](`There is no definition "${name}".`);

/** The same for a name in a request body. */
export const definitionUnknown = (name: string): Problem =>
  invalid({ definitionName: 'Enum' }, `There is no definition "${name}".`);

export const definitionNotImportable = (name: string): Problem =>
  invalid({ definitionName: 'Enum' }, `"${name}" can only be exported.`);

export const permissionMissing = (permission: string): Problem =>
  forbidden(`This needs the permission ${permission}.`);

export const secretsOfSomebodyElse = (): Problem =>
  forbidden(
    'The file may have secrets: only whoever uploaded it may say how it is read and what its columns are.',
  );

export const importJobNotFound = (id: string): Problem =>
  dataExchangeProblems['import-job-not-found'](`There is no import job ${id}.`);

export const importInWrongState = (step: string, status: string, needed: readonly string[]): Problem =>
  dataExchangeProblems['import-in-wrong-state'](
    `The job is ${status}; to ${step} it must be ${needed.join(' or ')}.`,
  );

export const importNotUndoable = (definition: string): Problem =>
  dataExchangeProblems['import-not-undoable'](`Imports of ${definition} cannot be undone.`);

export const importUnknownToOwner = (): Problem =>
  dataExchangeProblems['import-not-undoable'](
    'The changes of this import were not recorded: it ran before undo was possible.',
  );

export const importAlreadyUndone = (status: string): Problem =>
  dataExchangeProblems['import-already-undone'](`The undo of this import is ${status}.`);

export const importUndoExpired = (days: number): Problem =>
  dataExchangeProblems['import-undo-expired'](`The import ended more than ${days} days ago.`);

export const importNotUndone = (id: string): Problem =>
  dataExchangeProblems['import-not-undone'](`The undo of the import ${id} was never requested.`);

export const fileUnsupported = (): Problem =>
  dataExchangeProblems['import-file-unsupported']('This is neither CSV nor TSV nor an xlsx workbook.');

export const fileTooLarge = (bytesMax: number): Problem =>
  dataExchangeProblems['import-file-too-large'](`The file is larger than ${bytesMax} bytes.`);

export const fileUnreadable = (reason: string): Problem =>
  dataExchangeProblems['import-file-unreadable'](reason);

export const columnsMissing = (columns: readonly string[]): Problem =>
  invalid(
    { sheet: 'Enum' },
    `The sheet lacks columns that are mapped: ${columns.map((column) => `"${column}"`).join(', ')}.`,
  );

/** What a running import ends with whose owner takes none of the rows that follow those it took. */
export const importForgotten = (): Problem =>
  fileUnreadable(
    'The import stood still for so long that the service which owns its rows has forgotten it. What is counted is imported; upload the file again for the rest.',
  );

/** What an import ends with that may not begin: each of its rows may fail. */
export const noRoomForFailedRows = (): Problem =>
  invalid(
    { file: 'MaximumLength' },
    'Your tenant has no room for failed rows: wait until those of earlier imports are removed.',
  );

/** What a running import ends with: repeating it does not help. */
export const tooManyFailedRows = (): Problem =>
  invalid(
    { file: 'MaximumLength' },
    'More rows failed than your tenant has room for: correct the file, or wait until failed rows of earlier imports are removed.',
  );

/** The same for the keys of the files that a tenant imports at once. */
export const tooManyKeys = (): Problem =>
  invalid(
    { file: 'MaximumLength' },
    'Your tenant has no room for more keys of large files: wait until its other imports have ended, or divide the file.',
  );

export const tooManyKeysInFile = (keysMax: number): Problem =>
  invalid(
    { file: 'MaximumLength' },
    `The file has more than ${keysMax} rows, of which no duplicate keys can be found; divide it.`,
  );

/** Beyond what one statement may take of time and of the disk, trying again would take as much again. */
export const duplicatesNotFound = (cause: unknown): Problem =>
  new Problem(
    'too-large',
    'Finding the duplicate keys of the file takes more time or room than an import may; divide the file.',
    { cause },
  );

export const exportJobNotFound = (id: string): Problem =>
  dataExchangeProblems['export-job-not-found'](`There is no export job ${id}.`);

export const exportNotReady = (status: string): Problem =>
  dataExchangeProblems['export-not-ready'](
    status === 'Failed' ? 'The export failed, so there is no file.' : `The job is ${status}.`,
  );

export const importRowsExpired = (): Problem =>
  dataExchangeProblems['import-rows-expired']('The failed rows of this import were removed.');

export const exportExpired = (fileName: string | null): Problem =>
  dataExchangeProblems['export-expired'](`The file ${fileName} was removed; export again.`);

export const exportAlreadyEnded = (status: string): Problem =>
  dataExchangeProblems['export-already-ended'](`The job is ${status} already.`);

export const exportPresetNotFound = (definition: string, preset: string): Problem =>
  dataExchangeProblems['export-preset-not-found'](`You have no preset "${preset}" for ${definition}.`);

export const tooManyPresets = (): Problem =>
  quotaExceeded({
    quota: 'export-presets',
    what: 'presets of this definition',
    limit: PRESETS_MAX,
    used: PRESETS_MAX,
    scope: 'user',
  });

export const presetsTooLarge = (used: number): Problem =>
  quotaExceeded({
    quota: 'export-preset-bytes',
    what: 'bytes of the filters of presets of this definition',
    limit: PRESET_BYTES_MAX,
    used,
    scope: 'user',
  });
