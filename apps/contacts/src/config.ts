import { undoEnvironment } from '@plinth/exchange/import-retention';
import { databaseUrl, serviceEnvironment } from '@plinth/runtime/process/config';
import { z } from 'zod';

export const ContactsConfig = z.object({
  ...serviceEnvironment,
  ...undoEnvironment,
  DATABASE_URL_CONTACTS: databaseUrl(),
});

export type ContactsConfig = z.output<typeof ContactsConfig>;
