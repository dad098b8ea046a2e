import { contactsProblems } from '@plinth/contracts/contacts/problems';
import { invalid } from '@plinth/kernel/problem';

export const contactNotFound = (id: string) =>
  contactsProblems['contact-not-found'](`There is no contact ${id}.`);

export const companyNotFound = (id: string) =>
  contactsProblems['company-not-found'](`There is no company ${id}.`);

export const externalIdTaken = (externalId: string) =>
  contactsProblems['external-id-taken'](`The external id "${externalId}" is taken.`);

export const companyInUse = (id: string) =>
  contactsProblems['company-in-use'](`Contacts belong to the company ${id}.`);

export const unknownCompany = (externalId: string) =>
  invalid({ 'company.externalId': 'Enum' }, `There is no company with the external id "${externalId}".`);
