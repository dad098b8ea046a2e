import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';

/**
 * An export completed or failed. Published in the transaction that ends the job; the actor is its caller. Whoever is told of it
 * may not see the rows, so versions of today leave `rowCount` out.
 */
export const exportFinished = eventType(
  'data-exchange.export-finished',
  z.object({
    jobId: z.uuid(),
    definitionName: z.string(),
    status: z.enum(['Completed', 'Failed']),
    rowCount: z.int().nullable(),
  }),
);

/**
 * An import reached its final state. Published in the transaction that ends the job; the actor is its caller. The numbers of rows are
 * for services: who sees them needs the permission of the definition.
 */
export const importFinished = eventType(
  'data-exchange.import-finished',
  z.object({
    jobId: z.uuid(),
    definitionName: z.string(),
    status: z.enum(['Completed', 'PartiallyCompleted', 'Failed', 'Cancelled']),
    totalRows: z.int(),
    succeededRows: z.int(),
    failedRows: z.int(),
  }),
);

/**
 * The undo of an import ended. Published in the transaction that ends it; the actor is its caller. The numbers of rows are for
 * services, as those of imports.
 */
export const importUndone = eventType(
  'data-exchange.import-undone',
  z.object({
    jobId: z.uuid(),
    definitionName: z.string(),
    status: z.enum(['Undone', 'PartiallyUndone', 'Failed']),
    removedRows: z.int(),
    restoredRows: z.int(),
    keptRows: z.int(),
  }),
);

/** All events that data exchange publishes. */
export const dataExchangeEvents = [exportFinished, importFinished, importUndone];
