import { definitionNotFound, importUnknownToOwner } from '../domain/problems';
import { undoneRows, undoStatus } from '../domain/import-undo';
import type { Definition } from '../domain/definition';
import { receive } from '../grpc/receive';
import type { ImportJob } from '../store/import-store';
import type { ImportUndo, KeptRow, UndoneWrite, ImportUndoStore } from '../store/import-undo-store';
import type { ImportDependencies } from './find-import-run';

export type UndoDependencies = Pick<ImportDependencies, 'imports' | 'ranges' | 'owners' | 'clock'> & {
  undos: ImportUndoStore;
};

/** Long enough for a few writes; then other jobs run. */
const TIME_SLICE_MILLISECONDS = 10_000;

/**
 * Undoes an import for the time of a slice; returns whether it is done. It can be interrupted anywhere and run again,
 * also beside another run that only seems dead: writes are undone once by the owner and counted once here.
 */
export async function undoImport(
  dependencies: UndoDependencies,
  tenantId: string,
  jobId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { imports, owners, undos, clock } = dependencies;
  const undo = await undos.find(tenantId, jobId);
  if (undo?.status !== 'Undoing') return true;
  const job = await imports.get(tenantId, jobId);
  const definition = await owners.find(job.definitionName);
  if (!definition) throw definitionNotFound(job.definitionName);
  await seal(dependencies, undo, definition);

  const endOfSlice = performance.now() + TIME_SLICE_MILLISECONDS;
  for await (const write of undoneWrites(dependencies, undo, definition, signal)) {
    await undos.countWrite(undo, write);
    if (performance.now() > endOfSlice) return false;
  }
  const done = (await undos.find(tenantId, jobId))!;
  requireComplete(job, done);
  await undos.finish(tenantId, jobId, { status: undoStatus(done), at: clock.now() });
  return true;
}

export const failUndo = (
  { undos, clock }: Pick<UndoDependencies, 'undos' | 'clock'>,
  tenantId: string,
  jobId: string,
  reason: string,
): Promise<void> =>
  undos.finish(tenantId, jobId, { status: 'Failed', errorMessage: reason, at: clock.now() });

/** A run of the import that only seems dead must not write after the undo. */
async function seal(
  { ranges, owners }: UndoDependencies,
  undo: ImportUndo,
  definition: Definition,
): Promise<void> {
  const { tenantId, jobId, caller } = undo;
  for (const range of await ranges.numbers(tenantId, jobId))
    await owners.seal(definition, { jobId, range }, caller);
}

async function* undoneWrites(
  { owners }: UndoDependencies,
  { jobId, caller, lastWrite }: ImportUndo,
  definition: Definition,
  signal: AbortSignal,
): AsyncGenerator<UndoneWrite> {
  const { client, identity } = owners.clientOf(definition);
  const request = { definition: definition.name, jobId, after: lastWrite ?? 0 };
  const open = () => client.UndoImport(request, identity('UndoImport', caller));
  for await (const { kept, ...write } of receive({ service: definition.owner, signal }, open))
    yield { ...write, kept: JSON.parse(kept.toString()) as KeptRow[] };
}

/** An import from before writes were recorded seems to have written nothing. */
function requireComplete({ insertedRows, updatedRows }: ImportJob, undo: ImportUndo): void {
  if (undoneRows(undo) < insertedRows + updatedRows) throw importUnknownToOwner();
}
