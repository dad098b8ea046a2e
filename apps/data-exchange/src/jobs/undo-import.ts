import { definitionNotFound, importUnknownToOwner } from '../domain/problems';
import { undoneRows, undoStatus } from '../domain/import-undo';
import type { Definition } from '../domain/definition';
import { receive } from '../grpc/receive';
import type { ImportJob } from '../store/import-store';
import type { ImportUndo, KeptRow, UndoneWrite, UndoStore } from '../store/undo-store';
import type { ImportRunParts } from './import-run';

export type UndoParts = Pick<ImportRunParts, 'imports' | 'ranges' | 'owners' | 'clock'> & {
  undos: UndoStore;
};

/** Long enough for a few writes; then it is somebody else's turn. */
const TURN_MILLISECONDS = 10_000;

/**
 * Undoes an import for the time of a turn; answers whether it is done. It may be broken off anywhere and run again, also
 * beside another run that only seems dead: writes are undone once by the owner and counted once here.
 */
export async function undoImport(
  parts: UndoParts,
  tenantId: string,
  jobId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { imports, owners, undos, clock } = parts;
  const undo = await undos.find(tenantId, jobId);
  if (undo?.status !== 'Undoing') return true;
  const job = await imports.get(tenantId, jobId);
  const definition = await owners.find(job.definitionName);
  if (!definition) throw definitionNotFound(job.definitionName);
  await seal(parts, undo, definition);

  const endOfTurn = performance.now() + TURN_MILLISECONDS;
  for await (const write of undoneWrites(parts, undo, definition, signal)) {
    await undos.noteWrite(tenantId, jobId, write);
    if (performance.now() > endOfTurn) return false;
  }
  const done = (await undos.find(tenantId, jobId))!;
  requireComplete(job, done);
  await undos.finish(tenantId, jobId, { status: undoStatus(done), at: clock.now() });
  return true;
}

export const failUndo = (
  { undos, clock }: Pick<UndoParts, 'undos' | 'clock'>,
  tenantId: string,
  jobId: string,
  reason: string,
): Promise<void> =>
  undos.finish(tenantId, jobId, { status: 'Failed', errorMessage: reason, at: clock.now() });

/** A run of the import that seems dead must not write behind the undo. */
async function seal({ ranges, owners }: UndoParts, undo: ImportUndo, definition: Definition): Promise<void> {
  const { tenantId, jobId, caller } = undo;
  const known = await ranges.list(tenantId, jobId);
  for (const { number: range } of known.length > 0 ? known : [{ number: 0 }])
    await owners.seal(definition, { jobId, range }, caller);
}

async function* undoneWrites(
  { owners }: UndoParts,
  { jobId, caller, lastWrite }: ImportUndo,
  definition: Definition,
  signal: AbortSignal,
): AsyncGenerator<UndoneWrite> {
  const { client, identity } = owners.of(definition);
  const request = { definition: definition.name, jobId, after: lastWrite ?? 0 };
  const open = () => client.UndoImport(request, identity('UndoImport', caller));
  for await (const { kept, ...write } of receive({ area: definition.owner, signal }, open))
    yield { ...write, kept: JSON.parse(kept.toString()) as KeptRow[] };
}

/** Imports that ran before their writes were noted look as if they had written nothing. */
function requireComplete({ insertedRows, updatedRows }: ImportJob, undo: ImportUndo): void {
  if (undoneRows(undo) < insertedRows + updatedRows) throw importUnknownToOwner();
}
