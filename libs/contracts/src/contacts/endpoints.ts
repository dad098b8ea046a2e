import { z } from 'zod';
import { endpoint, permission } from '../endpoint';
import { Id } from '../schemas';
import {
  Company,
  CompanyKind,
  CompanyPage,
  Contact,
  ContactPage,
  ContactStage,
  PreferredChannel,
  SaveCompanyRequest,
  SaveContactRequest,
} from './shapes';

const byId = z.object({ id: Id });

const getContacts = endpoint({
  method: 'GET',
  path: '/contacts',
  summary: 'Read the contacts, a page at a time',
  access: permission('Contacts.Contacts.Read'),
  list: {
    filterable: {
      externalId: { type: 'string' },
      firstName: { type: 'string' },
      lastName: { type: 'string' },
      email: { type: 'string' },
      channel: { type: 'enum', values: PreferredChannel },
      wantsNews: { type: 'boolean' },
      bornOn: { type: 'timestamp' },
      lastSpokenAt: { type: 'timestamp' },
      stage: { type: 'enum', values: ContactStage },
      'company.externalId': { type: 'string' },
      changedAt: { type: 'timestamp' },
      createdAt: { type: 'timestamp' },
    },
    sortable: ['externalId', 'lastName', 'changedAt', 'createdAt'],
    defaultSort: '-createdAt',
    searchable: ['externalId', 'firstName', 'lastName', 'email'],
    cursor: true,
  },
  success: { status: 200, body: ContactPage },
  cache: 'list',
});

const postContact = endpoint({
  method: 'POST',
  path: '/contacts',
  summary: 'Create a contact',
  description: 'Its company is named by the external id, and must be there already.',
  access: permission('Contacts.Contacts.Manage'),
  body: SaveContactRequest,
  success: { status: 201, body: Contact },
  problems: ['external-id-taken'],
  etag: true,
});

const getContact = endpoint({
  method: 'GET',
  path: '/contacts/:id',
  summary: 'Read one contact',
  access: permission('Contacts.Contacts.Read'),
  params: byId,
  success: { status: 200, body: Contact },
  problems: ['contact-not-found'],
  cache: 'user-data',
  etag: true,
});

const putContact = endpoint({
  method: 'PUT',
  path: '/contacts/:id',
  summary: 'Change a contact; what is left out is empty afterwards',
  description:
    'Its stage is changed by the workflow endpoints, with the entity type `Contact` and the id of the contact.',
  access: permission('Contacts.Contacts.Manage'),
  params: byId,
  body: SaveContactRequest,
  success: { status: 200, body: Contact },
  problems: ['contact-not-found', 'external-id-taken'],
  etag: true,
  ifMatch: true,
});

const deleteContact = endpoint({
  method: 'DELETE',
  path: '/contacts/:id',
  summary: 'Delete a contact',
  access: permission('Contacts.Contacts.Manage'),
  params: byId,
  success: { status: 204 },
  problems: ['contact-not-found'],
  ifMatch: true,
});

const getCompanies = endpoint({
  method: 'GET',
  path: '/companies',
  summary: 'Read the companies, a page at a time',
  access: permission('Contacts.Companies.Read'),
  list: {
    filterable: {
      externalId: { type: 'string' },
      name: { type: 'string' },
      kind: { type: 'enum', values: CompanyKind },
      isActive: { type: 'boolean' },
      foundedOn: { type: 'timestamp' },
      creditLimit: { type: 'number' },
      employees: { type: 'integer' },
      email: { type: 'string' },
      changedAt: { type: 'timestamp' },
      createdAt: { type: 'timestamp' },
    },
    sortable: ['externalId', 'name', 'changedAt', 'createdAt'],
    defaultSort: '-createdAt',
    searchable: ['externalId', 'name', 'email'],
    cursor: true,
  },
  success: { status: 200, body: CompanyPage },
  cache: 'list',
});

const postCompany = endpoint({
  method: 'POST',
  path: '/companies',
  summary: 'Create a company',
  access: permission('Contacts.Companies.Manage'),
  body: SaveCompanyRequest,
  success: { status: 201, body: Company },
  problems: ['external-id-taken'],
  etag: true,
});

const getCompany = endpoint({
  method: 'GET',
  path: '/companies/:id',
  summary: 'Read one company',
  access: permission('Contacts.Companies.Read'),
  params: byId,
  success: { status: 200, body: Company },
  problems: ['company-not-found'],
  cache: 'user-data',
  etag: true,
});

const putCompany = endpoint({
  method: 'PUT',
  path: '/companies/:id',
  summary: 'Change a company; what is left out is empty afterwards',
  access: permission('Contacts.Companies.Manage'),
  params: byId,
  body: SaveCompanyRequest,
  success: { status: 200, body: Company },
  problems: ['company-not-found', 'external-id-taken'],
  etag: true,
  ifMatch: true,
});

const deleteCompany = endpoint({
  method: 'DELETE',
  path: '/companies/:id',
  summary: 'Delete a company that no contact belongs to',
  access: permission('Contacts.Companies.Manage'),
  params: byId,
  success: { status: 204 },
  problems: ['company-not-found', 'company-in-use'],
  ifMatch: true,
});

export const contactsEndpoints = {
  getContacts,
  postContact,
  getContact,
  putContact,
  deleteContact,
  getCompanies,
  postCompany,
  getCompany,
  putCompany,
  deleteCompany,
};
