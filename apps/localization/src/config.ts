import { databaseUrl, serviceEnvironment } from '@plinth/runtime/config';
import { z } from 'zod';

export const LocalizationConfig = z.object({
  ...serviceEnvironment,
  DATABASE_URL_LOCALIZATION: databaseUrl(),
  OVERRIDE_STORE: z
    .enum(['postgres', 'none'])
    .default('postgres')
    .describe("Where tenants' overrides of texts are kept; `none`: nowhere, and their endpoints answer 501."),
});

export type LocalizationConfig = z.output<typeof LocalizationConfig>;
