import {
  companiesSaved,
  companyDeleted,
  contactDeleted,
  contactGone,
  contactMoved,
  contactsNoted,
  contactsSaved,
} from '@plinth/contracts/contacts/events';
import type { Caller } from '@plinth/kernel/caller';
import type { EventType } from '@plinth/kernel/event';
import { appendToOutbox, writeWithEvents, type NewEvent } from '@plinth/runtime/messaging/outbox';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import type { Sql } from '@plinth/runtime/postgres/raw-statements';
import { COMPANY_ENTITY_TYPE, CONTACT_ENTITY_TYPE, type StageTransition } from '../domain/stage';

/** The events of one kind of record, and what timelines call it. */
export const contactEvents = {
  entityType: CONTACT_ENTITY_TYPE,
  saved: contactsSaved,
  deleted: contactDeleted,
  /** For workflow, which may have requests for approval of them. */
  gone: contactGone,
};
export const companyEvents = {
  entityType: COMPANY_ENTITY_TYPE,
  saved: companiesSaved,
  deleted: companyDeleted,
  gone: undefined,
};
export type RecordEvents = typeof contactEvents | typeof companyEvents;

/** What timelines show. */
const texts = {
  created: { en: 'Created.', fr: 'Créé.' },
  changed: { en: 'Changed.', fr: 'Modifié.' },
  imported: { en: 'Imported.', fr: 'Importé.' },
  restored: { en: 'Import undone.', fr: 'Import défait.' },
  deleted: { en: 'Deleted.', fr: 'Supprimé.' },
};

/**
 * Publishes which records were saved, for other services and for timelines, in the transaction of the change.
 * @param changes what is written in the same statement
 */
export async function publishSaved(
  tx: RawStatements,
  { tenantId, userId, userName }: Caller,
  { saved, entityType }: RecordEvents,
  ids: readonly string[],
  how: 'created' | 'changed' | 'imported' | 'restored',
  changes: readonly Sql[] = [],
): Promise<void> {
  const common = { tenantId, subject: ids[0]!, actor: { userId, userName } };
  const events: NewEvent<EventType>[] = [
    { ...common, type: saved, payload: { ids: [...ids], isImport: how === 'imported' } },
    {
      ...common,
      type: contactsNoted,
      payload: { entityType, entityIds: [...ids], texts: texts[how] },
    },
  ];
  await writeWithEvents(tx, changes, ...events);
}

/** Publishes which records were deleted, for other services and for timelines, in the transaction of the change. */
export async function publishDeleted(
  tx: RawStatements,
  { tenantId, userId, userName }: Caller,
  { deleted, gone, entityType }: RecordEvents,
  records: readonly { id: string; externalId: string }[],
): Promise<void> {
  const actor = { userId, userName };
  await appendToOutbox(
    tx,
    ...records.map((record) => ({ type: deleted, tenantId, subject: record.id, payload: record, actor })),
  );
  const entityIds = records.map(({ id }) => id);
  const about = { tenantId, subject: entityIds[0]!, actor };
  const events: NewEvent<EventType>[] = [
    { ...about, type: contactsNoted, payload: { entityType, entityIds, texts: texts.deleted } },
  ];
  if (gone) events.push({ ...about, type: gone, payload: { entityType, entityIds } });
  await appendToOutbox(tx, ...events);
}

/** Publishes a transition of a contact for workflow, which keeps the history, in the transaction of the change. */
export async function publishStageChanged(
  tx: RawStatements,
  caller: Caller,
  { id, contactId, from, to, comment }: StageTransition,
  at: Date,
): Promise<void> {
  await appendToOutbox(tx, {
    type: contactMoved,
    tenantId: caller.tenantId,
    subject: contactId,
    payload: {
      entityType: CONTACT_ENTITY_TYPE,
      entityId: contactId,
      moveId: id,
      previousState: from,
      newState: to,
      comment,
      movedAt: at.toISOString(),
      movedBy: caller.userId,
    },
    actor: caller,
  });
}
