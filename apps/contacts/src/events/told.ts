import {
  companiesSaved,
  companyDeleted,
  contactDeleted,
  contactsNoted,
  contactsSaved,
} from '@plinth/contracts/contacts/events';
import type { Caller } from '@plinth/kernel/caller';
import type { EventType, PayloadOf } from '@plinth/kernel/event';
import { appendToOutbox } from '@plinth/runtime/outbox';
import type { RawStatements } from '@plinth/runtime/postgres';
import { COMPANY_ENTITY_TYPE, CONTACT_ENTITY_TYPE } from '../domain/stage';

/** What a kind of thing kept here is called in timelines, and by which facts siblings hear of it. */
export const contactFacts = {
  entityType: CONTACT_ENTITY_TYPE,
  saved: contactsSaved,
  deleted: contactDeleted,
};
export const companyFacts = {
  entityType: COMPANY_ENTITY_TYPE,
  saved: companiesSaved,
  deleted: companyDeleted,
};
export type Facts = typeof contactFacts | typeof companyFacts;

const texts = {
  created: { en: 'Created.', fr: 'Créé.' },
  changed: { en: 'Changed.', fr: 'Modifié.' },
  imported: { en: 'Imported.', fr: 'Importé.' },
  restored: { en: 'Import undone.', fr: 'Import défait.' },
  deleted: { en: 'Deleted.', fr: 'Supprimé.' },
};

const teller =
  (tx: RawStatements, { tenantId, userId, userName }: Caller, subject: string) =>
  <E extends EventType>(type: E, payload: PayloadOf<E>) =>
    appendToOutbox(tx, { type, tenantId, subject, payload, actor: { userId, userName } });

/** Tells siblings what was saved, and the timelines by whom, in the transaction of the change. */
export async function tellSaved(
  tx: RawStatements,
  caller: Caller,
  { saved, entityType }: Facts,
  ids: readonly string[],
  how: 'created' | 'changed' | 'imported' | 'restored',
): Promise<void> {
  const tell = teller(tx, caller, ids[0]!);
  await tell(saved, { ids: [...ids], isImport: how === 'imported' });
  await tell(contactsNoted, { entityType, entityIds: [...ids], texts: texts[how] });
}

/** Tells siblings and the timelines what is gone. */
export async function tellDeleted(
  tx: RawStatements,
  caller: Caller,
  { deleted, entityType }: Facts,
  gone: readonly { id: string; externalId: string }[],
): Promise<void> {
  const { tenantId, userId, userName } = caller;
  const actor = { userId, userName };
  const facts = gone.map((one) => ({ type: deleted, tenantId, subject: one.id, payload: one, actor }));
  await appendToOutbox(tx, ...facts);
  const entityIds = gone.map(({ id }) => id);
  await teller(tx, caller, entityIds[0]!)(contactsNoted, { entityType, entityIds, texts: texts.deleted });
}
