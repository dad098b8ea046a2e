import { undoEnvironment } from '@plinth/exchange/import-retention';
import { databaseUrl, serviceEnvironment } from '@plinth/runtime/process/config';
import { z } from 'zod';

export const ContactsConfig = z.object({
  ...serviceEnvironment,
  ...undoEnvironment,
  DATABASE_URL_CONTACTS: databaseUrl(),
  CONTACTS_TENANT_RECORDS_MAX: z.coerce
    .number()
    .int()
    .positive()
    .default(10_000_000)
    .describe('Contacts, and companies, that a tenant may have.'),
});

export type ContactsConfig = z.output<typeof ContactsConfig>;
