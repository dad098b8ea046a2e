import { CompanyFields } from '@plinth/contracts/contacts/shapes';
import { defineExchange } from '@plinth/exchange/definition';
import { fieldsOf } from '@plinth/exchange/schema-fields';
import { companyEvents } from '../events/published';
import synonyms from './companies.synonyms.json';
import { recordDefinition } from './record';

/** `Contacts.Companies` */
export const companiesExchange = defineExchange({
  ...recordDefinition('company', companyEvents),
  name: 'Contacts.Companies',
  permission: 'Contacts.Companies.Manage',
  searchable: ['externalId', 'name', 'email'],
  fields: fieldsOf(CompanyFields, synonyms),
});
