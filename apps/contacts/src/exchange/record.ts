import type { ExchangeDefinition } from '@plinth/exchange/definition';
import type { RecordEvents } from '../events/published';
import { recordImported, recordUndone } from '../store/imported-records';

/** What the definitions of contacts and of companies have in common. */
export const recordDefinition = (table: 'contact' | 'company', events: RecordEvents) =>
  ({
    importable: true,
    table,
    entityType: events.entityType,
    key: ['externalId'],
    // Other services and timelines know records by their ids.
    keysMayChange: true,
    defaultSort: 'externalId',
    onInsert: { created_by: 'caller-id', changed_by: 'caller-id' },
    onUpdate: { version: 'next', changed_at: 'now', changed_by: 'caller-id' },
    afterWrite: (rows, context) => recordImported(events, rows, context),
    afterUndo: (undone, context) => recordUndone(events, undone, context),
  }) satisfies Partial<ExchangeDefinition>;
