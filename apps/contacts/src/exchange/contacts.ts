import { ContactFields, ContactStage } from '@plinth/contracts/contacts/shapes';
import { defineExchange } from '@plinth/exchange/definition';
import { enumField } from '@plinth/exchange/fields';
import { fieldsOf } from '@plinth/exchange/schema-fields';
import { contactEvents } from '../events/published';
import synonyms from './contacts.synonyms.json';
import { recordDefinition } from './record';

/** `Contacts.Contacts`; a row names its company by the external id. */
export const contactsExchange = defineExchange({
  ...recordDefinition('contact', contactEvents),
  name: 'Contacts.Contacts',
  permission: 'Contacts.Contacts.Manage',
  searchable: ['externalId', 'firstName', 'lastName', 'email'],
  fields: {
    ...fieldsOf(ContactFields, {
      ...synonyms,
      company: { ...synonyms.company, references: { table: 'company' } },
    }),
    stage: enumField({ column: 'stage', header: 'Stage', values: ContactStage, readOnly: true }),
  },
});
