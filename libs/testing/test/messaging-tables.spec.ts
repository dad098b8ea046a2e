import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../../..');
const read = (name: string) => readFileSync(join(root, 'libs/runtime/sql', name), 'utf8');
const tables = read('messaging.sql');
const statements = tables.slice(tables.indexOf('-- Facts this service tells'));
const tracedFacts = read('traced-facts.sql');

const migrationsOf = (service: string): string =>
  readdirSync(join(root, 'apps', service, 'prisma/migrations'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) =>
      readFileSync(join(root, 'apps', service, 'prisma/migrations', name, 'migration.sql'), 'utf8'),
    )
    .join('\n');

const services = readdirSync(join(root, 'apps')).filter((name) =>
  existsSync(join(root, 'apps', name, 'prisma/migrations')),
);

describe('the tables of outbox, inbox and dead letters', () => {
  it.each(services)('are those of libs/runtime in the database of %s', (service) => {
    expect(migrationsOf(service)).toContain(statements.trim());
    expect(migrationsOf(service)).toContain(tracedFacts.trim());
  });
});
