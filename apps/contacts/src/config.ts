import { undoEnvironment } from '@plinth/exchange/import-retention';
import { ledgerEnvironment } from '@plinth/exchange/ledger-quota';
import { databaseUrl, positiveInteger, serviceEnvironment } from '@plinth/runtime/process/config';
import { z } from 'zod';

export const ContactsConfig = z.object({
  ...serviceEnvironment,
  ...undoEnvironment,
  ...ledgerEnvironment,
  DATABASE_URL_CONTACTS: databaseUrl(),
  CONTACTS_TENANT_RECORDS_MAX: positiveInteger(10_000_000).describe(
    'Contacts, and companies, that a tenant may have.',
  ),
});

export type ContactsConfig = z.output<typeof ContactsConfig>;
