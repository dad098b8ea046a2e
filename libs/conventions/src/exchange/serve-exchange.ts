import { once } from 'node:events';
import type { ServerDuplexStream, ServerWritableStream, ServiceDefinition } from '@grpc/grpc-js';
import { holds, type Caller } from '@plinth/kernel/caller';
import { forbidden, malformed, notFound, Problem } from '@plinth/kernel/problem';
import { isUuid } from '@plinth/kernel/uuid';
import { grpcHandlers, type GrpcService } from '@plinth/runtime/grpc';
import type { Log } from '@plinth/runtime/log';
import type { Pool } from 'pg';
import { ID_PROPERTY, type RawRow } from './convert';
import { isUndoable, listRulesOf, type ExchangeDefinition, type RowFault } from './definition';
import { streamExport } from './export-query';
import { openKeySession } from './key-session';
import { openImportSession, sealImport, type Commit, type ImportSession } from './import-session';
import { undoImport } from './undo-import';
import type { ImportMode } from './write-statements';

interface ExportRequest {
  definition: string;
  fields: string[];
  includeId: boolean;
  selection: string;
}

interface UndoRequest {
  definition: string;
  jobId: string;
  after: number;
}

interface ImportRequest {
  start?: {
    definition: string;
    jobId: string;
    columns: string[];
    mode: ImportMode;
    commit: Commit | 'READ_KEYS';
    range: number;
    knowsDuplicates: boolean;
    decimalSeparator: string;
    dateOrder: string;
  } | null;
  batch?: { number: number; rows: Buffer; duplicates: Buffer } | null;
  end?: object | null;
}

type OwnerCall = ServerWritableStream<unknown, object> | ServerDuplexStream<unknown, object>;

interface Parts {
  config: { CALLER_KEYS: readonly string[] };
  log: Log;
  pool: Pool;
}

/**
 * Lets data exchange export and import what these definitions describe: the whole of the owner's side.
 * `service` is the definition of `ExchangeOwner` (libs/proto).
 */
export function serveExchange(
  service: ServiceDefinition,
  definitions: readonly ExchangeDefinition[],
  parts: Parts,
): GrpcService {
  const { callerOf, failure, inTrace, unary } = grpcHandlers(parts.config.CALLER_KEYS, parts.log);
  const { pool } = parts;

  const definitionFor = (
    name: string,
    call: OwnerCall,
  ): { definition: ExchangeDefinition; caller: Caller } => {
    const definition = definitions.find((candidate) => candidate.name === name);
    if (!definition) throw notFound(`There is no definition "${name}".`);
    const caller = callerOf(call.metadata, call.getPath());
    if (!caller) throw forbidden('Rows are exchanged on behalf of somebody.');
    if (!holds(caller, definition.permission))
      throw forbidden(`This needs the permission ${definition.permission}.`);
    return { definition, caller };
  };

  /** Answers message by message until the work is done. */
  const streamed =
    <Call extends OwnerCall>(work: (call: Call) => Promise<void>) =>
    (call: Call): void => {
      inTrace({ metadata: call.metadata, path: call.getPath() }, () => work(call)).then(
        () => call.end(),
        (error: unknown) => call.emit('error', failure(error)),
      );
    };

  const ListDefinitions = unary<object, object>(async () => ({ definitions: definitions.map(describe) }));

  const SealImport = unary<{ jobId: string; range: number }, object>(async ({ jobId, range }, caller) => {
    if (!caller) throw forbidden('An import is sealed on behalf of somebody.');
    return { lastBatch: await sealImport(pool, caller.tenantId, requireJobId(jobId), range) };
  });

  const Export = streamed(async (call: ServerWritableStream<ExportRequest, object>) => {
    const { fields, includeId, selection } = call.request;
    const { definition, caller } = definitionFor(call.request.definition, call);
    const what = { definition, fields, includeId, selection: JSON.parse(selection || '{}'), caller };
    await streamExport(pool, what, (lines) => send(call, { lines }));
  });

  const UndoImport = streamed(async (call: ServerWritableStream<UndoRequest, object>) => {
    const { definition, caller } = definitionFor(call.request.definition, call);
    if (!isUndoable(definition)) throw forbidden(`Imports of ${definition.name} cannot be undone.`);
    const { after } = call.request;
    const jobId = requireJobId(call.request.jobId);
    for await (const { kept, ...write } of undoImport(pool, { definition, jobId, caller, after }))
      await send(call, { ...write, kept: Buffer.from(JSON.stringify(kept)) });
  });

  const Import = streamed(async (call: ServerDuplexStream<ImportRequest, object>) => {
    const messages = call[Symbol.asyncIterator]() as AsyncIterator<ImportRequest>;
    const { value: first } = (await messages.next()) as { value: ImportRequest | undefined };
    const start = first?.start;
    if (!start) throw malformed('An import begins with `start`.');
    const { definition, caller } = definitionFor(start.definition, call);
    requireColumns(definition, start.columns);
    const { commit, ...rest } = start;
    const parts = { ...rest, jobId: requireJobId(start.jobId), format: start, definition, caller };
    const session =
      commit === 'READ_KEYS' ? openKeySession(parts) : await openImportSession(pool, { ...parts, commit });
    try {
      await send(call, { started: { lastBatch: session.lastBatch } });
      await takeBatches(call, messages, session);
    } finally {
      await session.close();
    }
  });

  return { definition: service, handlers: { ListDefinitions, SealImport, Export, UndoImport, Import } };
}

/** Reads the cells of one batch while the one before is being written. */
async function takeBatches(
  call: ServerDuplexStream<ImportRequest, object>,
  messages: AsyncIterator<ImportRequest>,
  session: ImportSession,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve();
  // Not `for await`: leaving it would destroy the call, and with it the answer.
  for (let next = await messages.next(); !next.done && !call.cancelled; next = await messages.next()) {
    const message = next.value;
    if (message.batch) {
      const batch = {
        number: message.batch.number,
        rows: JSON.parse(message.batch.rows.toString()) as RawRow[],
        duplicates: readPairs(message.batch.duplicates),
      };
      const conversion = session.convert(batch);
      await writing;
      writing = session
        .apply(batch, conversion)
        .then((outcome) => send(call, { result: resultOf(batch.number, outcome) }));
      // It is awaited before the next batch; until then its failure is not unhandled.
      writing.catch(() => undefined);
    } else if (message.end) {
      await writing;
      await send(call, { ended: { committed: await session.end() } });
      return;
    }
  }
  await writing;
}

const readPairs = (bytes: Buffer): [number, number][] =>
  bytes.length === 0 ? [] : (JSON.parse(bytes.toString()) as [number, number][]);

const resultOf = (number: number, outcome: Awaited<ReturnType<ImportSession['apply']>>) =>
  outcome === 'sealed'
    ? { number, sealed: true, failures: Buffer.from('[]') }
    : {
        ...outcome,
        number,
        failures: Buffer.from(JSON.stringify(groupByRow(outcome.faults))),
        keys: Buffer.from(outcome.keys ? JSON.stringify(outcome.keys) : ''),
      };

/** One entry for each row that failed, with everything that is wrong with it. */
function groupByRow(faults: readonly RowFault[]) {
  const rows = new Map<number, { rowNumber: number; kind: RowFault['kind']; details: object[] }>();
  for (const { rowNumber, kind, ...detail } of faults) {
    const row = rows.get(rowNumber) ?? { rowNumber, kind, details: [] };
    row.details.push(detail);
    rows.set(rowNumber, row);
  }
  return [...rows.values()].sort((left, right) => left.rowNumber - right.rowNumber);
}

/** Writes one message and waits while the other side is slower; ends with a client that went away. */
async function send(call: OwnerCall, message: object) {
  if (call.cancelled) throw new Problem('timed-out', 'The other side went away.');
  if (call.write(message)) return;
  const abort = new AbortController();
  const gone = () => abort.abort();
  call.once('cancelled', gone);
  try {
    await once(call, 'drain', { signal: abort.signal });
  } catch (error) {
    throw new Problem('timed-out', 'The other side went away.', { cause: error });
  } finally {
    call.off('cancelled', gone);
  }
}

function requireColumns(definition: ExchangeDefinition, columns: readonly string[]): void {
  const isKnown = (property: string) =>
    property === ID_PROPERTY || (property in definition.fields && !definition.fields[property]!.readOnly);
  const unknown = columns.find((property) => !isKnown(property));
  if (unknown !== undefined) throw malformed(`"${unknown}" is no field that can be imported.`);
  if (!definition.importable) throw forbidden(`${definition.name} can only be exported.`);
}

function requireJobId(jobId: string): string {
  if (!isUuid(jobId)) throw malformed('The job id is no UUID.');
  return jobId;
}

const describe = (definition: ExchangeDefinition) => ({
  name: definition.name,
  entityType: definition.entityType,
  permission: definition.permission,
  widerPermission: definition.widerPermission ?? '',
  widerOnHostOnly: definition.widerOnHostOnly ?? false,
  importable: definition.importable,
  exportable: true,
  undoable: isUndoable(definition),
  rowsAreIndependent: definition.rowsAreIndependent ?? false,
  listRules: JSON.stringify(listRulesOf(definition)),
  fields: Object.entries(definition.fields).map(([propertyPath, field]) => ({
    propertyPath,
    type: field.type,
    header: field.header,
    description: field.description ?? '',
    format: field.format ?? '',
    required: field.required ?? false,
    readOnly: field.readOnly ?? false,
    aliases: [...(field.aliases ?? [])],
    synonyms: [...(field.synonyms ?? [])],
    isNavigation: field.relation !== undefined,
  })),
});
