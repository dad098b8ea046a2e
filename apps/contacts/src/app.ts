import { contactsEndpoints } from '@plinth/contracts/contacts/endpoints';
import { createService } from '@plinth/http/api';
import type { Express } from 'express';
import type { Deps } from './compose';
import { mountCompanies } from './routes/companies';
import { mountContacts } from './routes/contacts';

export const createApp = (deps: Deps): Express =>
  createService('contacts', contactsEndpoints, deps, (api) => {
    mountContacts(api, deps);
    mountCompanies(api, deps);
  });
