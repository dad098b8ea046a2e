import type { ServerDuplexStream, ServerWritableStream } from '@grpc/grpc-js';
import { holds, type Caller } from '@plinth/kernel/caller';
import { forbidden, malformed, notFound } from '@plinth/kernel/problem';
import { isUuid } from '@plinth/kernel/uuid';
import type { ExchangeOwnerHandlers } from '@plinth/proto/generated/plinth/exchange/v1/ExchangeOwner';
import type { ExportRequest__Output } from '@plinth/proto/generated/plinth/exchange/v1/ExportRequest';
import type { ExportRows } from '@plinth/proto/generated/plinth/exchange/v1/ExportRows';
import type { ImportResponse } from '@plinth/proto/generated/plinth/exchange/v1/ImportResponse';
import type { ImportRequest__Output } from '@plinth/proto/generated/plinth/exchange/v1/ImportRequest';
import type { ListDefinitionsRequest__Output } from '@plinth/proto/generated/plinth/exchange/v1/ListDefinitionsRequest';
import type { ListDefinitionsResponse } from '@plinth/proto/generated/plinth/exchange/v1/ListDefinitionsResponse';
import type { SealImportRequest__Output } from '@plinth/proto/generated/plinth/exchange/v1/SealImportRequest';
import type { SealImportResponse } from '@plinth/proto/generated/plinth/exchange/v1/SealImportResponse';
import type { UndoImportRequest__Output } from '@plinth/proto/generated/plinth/exchange/v1/UndoImportRequest';
import type { UndoneWrite } from '@plinth/proto/generated/plinth/exchange/v1/UndoneWrite';
import { protoPackages } from '@plinth/proto/packages';
import { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import type { Log } from '@plinth/runtime/process/log';
import { grpcHandlers, type GrpcService } from '@plinth/runtime/rpc/grpc';
import { sendMessage, signalOf, type StreamedCall } from '@plinth/runtime/rpc/streamed-call';
import type { BulkDatabase } from './bulk-transaction';
import { ID_PROPERTY, isUndoable, listRulesOf, type ExchangeDefinition } from './definition';
import { streamExport } from './export/export-query';
import type { ImportQuota } from './import/batch-importer';
import { openImportSession, sealImport } from './import/import-session';
import { openKeySession } from './import/key-session';
import { inTurnsOf } from './in-turns';
import type { LedgerQuota } from './ledger-quota';
import { receiveBatches } from './import/receive-batches';
import { undoImport } from './undo/undo-import';

/** So many rows data exchange sends at once. */
const BATCH_ROWS_MAX = 4_000;
/** What the ledger keeps of such a batch at most, about, where its former rows are long. */
const BATCH_LEDGER_BYTES = BATCH_ROWS_MAX * 65_536;

interface Dependencies extends BulkDatabase {
  config: { CALLER_KEYS: readonly string[] };
  log: Log;
  /** By the table of a definition. */
  importQuotas?: Readonly<Record<string, ImportQuota>>;
  /** Without it imports keep as much as they change; exports need none. */
  ledgerQuota?: LedgerQuota;
}

/** Serves the exports and imports of these definitions to data exchange: everything that a data owner does. */
export function serveExchange(
  definitions: readonly ExchangeDefinition[],
  { config, log, bulkPool, outbox, importQuotas = {}, ledgerQuota }: Dependencies,
): GrpcService {
  const database: BulkDatabase = { bulkPool, outbox };
  const turns = new EventLoopTurns();
  const { callerOf, streamed, unary } = grpcHandlers(config.CALLER_KEYS, log);

  const definitionFor = (
    name: string,
    call: StreamedCall<never>,
  ): { definition: ExchangeDefinition; caller: Caller } => {
    const definition = definitions.find((candidate) => candidate.name === name);
    if (!definition) throw notFound(`There is no definition "${name}".`);
    const caller = callerOf(call.metadata, call.getPath());
    if (!caller) throw forbidden('An export or import needs a caller.');
    if (!holds(caller, definition.permission))
      throw forbidden(`This needs the permission ${definition.permission}.`);
    return { definition, caller };
  };

  const handlers: ExchangeOwnerHandlers = {
    ListDefinitions: unary<ListDefinitionsRequest__Output, ListDefinitionsResponse>(async () => ({
      definitions: definitions.map(toMessage),
    })),

    SealImport: unary<SealImportRequest__Output, SealImportResponse>(async ({ jobId, range }, caller) => {
      if (!caller) throw forbidden('Sealing an import needs a caller.');
      return { lastBatch: await sealImport(bulkPool, caller.tenantId, requireJobId(jobId), range) };
    }),

    Export: streamed(async (call: ServerWritableStream<ExportRequest__Output, ExportRows>) => {
      const { fields, includeId, selection } = call.request;
      const { definition, caller } = definitionFor(call.request.definition, call);
      const start = { definition, fields, includeId, selection: JSON.parse(selection || '{}'), caller };
      await streamExport(bulkPool, start, (lines) => sendMessage(call, { lines }), signalOf(call));
    }),

    UndoImport: streamed(async (call: ServerWritableStream<UndoImportRequest__Output, UndoneWrite>) => {
      const { definition, caller } = definitionFor(call.request.definition, call);
      if (!isUndoable(definition)) throw forbidden(`Imports of ${definition.name} cannot be undone.`);
      const { after } = call.request;
      const jobId = requireJobId(call.request.jobId);
      for await (const write of undoImport(database, { definition, jobId, caller, after })) {
        const { kept, refusedIds: _refusedIds, ...counts } = write;
        await sendMessage(call, { ...counts, kept: Buffer.from(JSON.stringify(kept)) });
      }
    }),

    Import: streamed(async (call: ServerDuplexStream<ImportRequest__Output, ImportResponse>) => {
      const messages = call[Symbol.asyncIterator]() as AsyncIterator<ImportRequest__Output>;
      const { value: first } = (await messages.next()) as { value: ImportRequest__Output | undefined };
      const start = first?.start;
      if (!start) throw malformed('An import begins with `start`.');
      const { definition, caller } = definitionFor(start.definition, call);
      requireColumns(definition, start.columns);
      const { commit, acceptsParts, ...rest } = start;
      const jobId = requireJobId(start.jobId);
      const inTurns = inTurnsOf(turns, caller);
      const importQuota = importQuotas[definition.table];
      const isDryRun = commit === 'NEVER';
      const quota = importQuota?.forImport({ jobId, isDryRun });
      const ledger = ledgerQuota?.forImport({ jobId, isDryRun });
      // How many rows come together is known of a batch only: the rest of a transaction, or of a dry-run, is not counted.
      const batches = commit === 'EACH_BATCH' ? 1 : Infinity;
      if (commit !== 'READ_KEYS') {
        await quota?.whenKnown(caller.tenantId, batches * BATCH_ROWS_MAX);
        await ledger?.whenKnown(caller.tenantId, batches * BATCH_LEDGER_BYTES);
      }
      const quotas = { quota, ledgerQuota: ledger };
      const options = { ...rest, ...quotas, jobId, format: start, definition, caller, inTurns };
      const session =
        commit === 'READ_KEYS'
          ? openKeySession(options)
          : await openImportSession(database, { ...options, commit });
      try {
        await sendMessage(call, { started: { lastBatch: session.lastBatch } });
        await receiveBatches(call, messages, session, { acceptsParts, inTurns });
      } finally {
        await session.close();
      }
    }),
  };

  return { definition: protoPackages.exchange.v1.ExchangeOwner.service, handlers };
}

function requireColumns(definition: ExchangeDefinition, columns: readonly string[]): void {
  const isImportable = (property: string) =>
    property === ID_PROPERTY || (property in definition.fields && !definition.fields[property]!.readOnly);
  const unknown = columns.find((property) => !isImportable(property));
  if (unknown !== undefined) throw malformed(`"${unknown}" is no field that can be imported.`);
  if (!definition.importable) throw forbidden(`${definition.name} can only be exported.`);
}

function requireJobId(jobId: string): string {
  if (!isUuid(jobId)) throw malformed('The job id is no UUID.');
  return jobId;
}

const toMessage = (definition: ExchangeDefinition) => ({
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
    isSecret: field.isSecret ?? false,
  })),
});
