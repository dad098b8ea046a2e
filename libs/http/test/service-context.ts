import type { Health } from '@plinth/runtime/process/health';
import { silentLog } from '@plinth/runtime/process/log';
import { Registry } from 'prom-client';

/** What a service of a test is made with, beside its endpoints. In production it does not check its own responses. */
export const serviceContext = (
  keys: string[],
  health: Health,
  environment: 'test' | 'production' = 'test',
) => ({
  config: {
    NODE_ENV: environment,
    PUBLIC_URL: 'https://plinth.example',
    PUBLIC_PREFIX: '/api/v1',
    CALLER_KEYS: keys,
    CURSOR_KEYS: keys,
    BUFFERED_BYTES_MAX: 16 * 1024 * 1024,
    BUFFERED_RESPONSE_BYTES_MAX: 64 * 1024 * 1024,
  },
  log: silentLog(),
  health,
  metrics: new Registry(),
});
