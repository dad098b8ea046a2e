import { newId } from '@plinth/kernel/uuid';
import { closeAll, type Close } from '@plinth/runtime/lifecycle';
import { silentLog } from '@plinth/runtime/log';
import { serveForTest, TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { createTestDatabase } from '@plinth/testing/test-database';
import { createApp } from '../src/app';
import { compose } from '../src/compose';
import { LocalizationConfig } from '../src/config';

export interface StartOptions {
  /** Replicas of one service share a database and a subject prefix. */
  databaseUrl?: string;
  natsPrefix?: string;
  environment?: Record<string, string>;
}

/** Starts one replica of the service on real stores; close it when done. */
export async function startLocalization(options: StartOptions = {}) {
  const closers: Close[] = [];
  const database = options.databaseUrl ? undefined : await createTestDatabase('localization');
  if (database) closers.push(database.drop);
  const databaseUrl = options.databaseUrl ?? database!.url;
  const natsPrefix = options.natsPrefix ?? `test_${newId().replaceAll('-', '')}`;
  const config = LocalizationConfig.parse({
    NODE_ENV: 'test',
    DATABASE_URL_LOCALIZATION: databaseUrl,
    NATS_URL: infrastructure().natsUrl,
    NATS_PREFIX: natsPrefix,
    CALLER_KEYS: TEST_KEYS.join(','),
    CURSOR_KEYS: TEST_KEYS.join(','),
    ...options.environment,
  });
  const deps = await compose(config, silentLog(), (close) => closers.push(close));
  const server = await serveForTest(createApp(deps));
  closers.push(server.close);
  return {
    ...deps,
    as: server.as,
    url: server.url,
    databaseUrl,
    database,
    natsPrefix,
    close: () => closeAll(closers, silentLog()),
  };
}

export type Localization = Awaited<ReturnType<typeof startLocalization>>;
