import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';
import { entityNoted } from '../timeline/entity-noted';
import { entityGone, entityMoved } from '../workflow/events';

const saved = z.object({ ids: z.array(z.uuid()), isImport: z.boolean() });
const deleted = z.object({ id: z.uuid(), externalId: z.string() });

/** Contacts were created or changed: one by a request, a batch of them by an import. */
export const contactsSaved = eventType('contacts.contacts-saved', saved);

/** A contact was deleted. */
export const contactDeleted = eventType('contacts.contact-deleted', deleted);

/** Companies were created or changed: one by a request, a batch of them by an import. */
export const companiesSaved = eventType('contacts.companies-saved', saved);

/** A company was deleted. */
export const companyDeleted = eventType('contacts.company-deleted', deleted);

/** A contact went from one stage to another; the workflow service stores its history. */
export const contactMoved = entityMoved('contacts');

/** Contacts are gone; the workflow service ends their open requests for approval. */
export const contactGone = entityGone('contacts');

/** Texts for the timelines of contacts and companies. */
export const contactsNoted = entityNoted('contacts');

export const contactsEvents = {
  contactsSaved,
  contactDeleted,
  companiesSaved,
  companyDeleted,
  contactMoved,
  contactGone,
  contactsNoted,
};
