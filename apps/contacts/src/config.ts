import { databaseUrl, serviceEnvironment } from '@plinth/runtime/config';
import { z } from 'zod';

export const ContactsConfig = z.object({
  ...serviceEnvironment,
  DATABASE_URL_CONTACTS: databaseUrl(),
});

export type ContactsConfig = z.output<typeof ContactsConfig>;
