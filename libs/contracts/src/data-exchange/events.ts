import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';

/** An export ended, well or badly. Told in the transaction that ends the job; the actor is who asked for it. */
export const exportFinished = eventType(
  'data-exchange.export-finished',
  z.object({
    jobId: z.uuid(),
    definitionName: z.string(),
    status: z.enum(['Completed', 'Failed']),
    rowCount: z.int().nullable(),
  }),
);

/** An import came to its final state. Told in the transaction that ends the job; the actor is who asked for it. */
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

/** The undo of an import ended. Told in the transaction that ends it; the actor is who asked for it. */
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

/** Every fact that data exchange tells. */
export const dataExchangeEvents = [exportFinished, importFinished, importUndone];
