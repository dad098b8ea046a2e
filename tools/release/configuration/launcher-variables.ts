import type { Variable } from './read-processes.ts';

const variable = (name: string, meaning: string, defaultValue?: string): Variable => ({
  name,
  isRequired: false,
  defaultValue,
  meaning,
});

/** What `npm start`, `npm test`, `npm run migrate` and `npm run backup` read, beside the variables of the processes they start. */
export const launcherVariables: readonly Variable[] = [
  variable('PLINTH_PORT', 'Port of the gateway, like the option `--port`.', '8080'),
  variable(
    'PLINTH_DATA',
    'Folder of everything a local platform writes, like the option `--data`.',
    '.plinth',
  ),
  variable('REDIS_URL', 'A Redis that runs already; without it one is started.'),
  variable('NATS_URL', 'A NATS server with JetStream that runs already; without it one is started.'),
  variable('TEMPORAL_ADDRESS', 'A Temporal server that runs already; without it one is started.'),
  variable('PUBLIC_URL', 'Address under which clients reach the gateway.', 'http://localhost:<port>'),
  variable(
    'PUPPETEER_EXECUTABLE_PATH',
    'The Chromium that prints PDF; without it one is looked for, then brought.',
  ),
  variable(
    'XDG_CACHE_HOME',
    'Where built and downloaded programs are kept for all clones, in `plinth/`.',
    '~/.cache',
  ),
  variable(
    'MIGRATE_DATABASE_URL',
    'A connection that may create roles and databases; then `migrate` creates the database and the role that `DATABASE_URL_<SERVICE>` names.',
  ),
  variable(
    'MIGRATE_DATABASE_URL_<SERVICE>',
    'A connection to the database of one service, where database and role exist already, as its owner or as a role that may become the owner; backups need one that reads all rows.',
  ),
  variable(
    'TEST_POSTGRES_URL',
    'A PostgreSQL for the tests, as an administrator; without it one is started.',
  ),
  variable('TEST_REDIS_URL', 'A Redis for the tests; without it one is started.'),
  variable('TEST_NATS_URL', 'A NATS server with JetStream for the tests; without it one is started.'),
  variable('TEST_TEMPORAL_ADDRESS', 'A Temporal server for the tests; without it one is started.'),
];
