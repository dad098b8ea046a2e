import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@plinth/runtime/process/config';
import { z } from 'zod';
import { accessFromEnvironment, databaseFromEnvironment } from './access-from-environment.ts';
import { textOf } from './text-of-variable.ts';

const folder = mkdtempSync(join(tmpdir(), 'plinth-access-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A file as a secret is mounted, which often ends with a line break. */
function mounted(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, `${text}\n`);
  return path;
}

const admin = 'postgres://root:top@postgres/postgres';
const service = 'postgres://plinth_contacts_app:low@postgres/plinth_contacts';

it('the connections of migrations may be in files, as Kubernetes mounts them', () => {
  const url = mounted('url', service);
  expect(
    accessFromEnvironment('contacts', {
      DATABASE_URL_CONTACTS_FILE: url,
      MIGRATE_DATABASE_URL_FILE: mounted('admin', admin),
    }),
  ).toEqual({
    kind: 'admin',
    url: admin,
    plan: {
      database: 'plinth_contacts',
      ownerRole: 'plinth_contacts_owner',
      appRole: 'plinth_contacts_app',
      appPassword: 'low',
    },
  });
  const owner = 'postgres://contacts_owner:mine@postgres/plinth_contacts';
  expect(
    accessFromEnvironment('contacts', {
      DATABASE_URL_CONTACTS_FILE: url,
      MIGRATE_DATABASE_URL_CONTACTS_FILE: mounted('owner', owner),
    }),
  ).toEqual({ kind: 'owner', url: owner, appRole: 'plinth_contacts_app' });
});

it('a connection that is not there is named', () => {
  expect(() => accessFromEnvironment('contacts', { DATABASE_URL_CONTACTS: '' })).toThrow(
    'DATABASE_URL_CONTACTS is not set',
  );
  expect(() => accessFromEnvironment('contacts', { DATABASE_URL_CONTACTS: service })).toThrow(
    'neither MIGRATE_DATABASE_URL',
  );
  expect(() => textOf('URL', { URL_FILE: join(folder, 'missing') })).toThrow('ENOENT');
});

it.each([
  {},
  { URL: 'a' },
  { URL: '' },
  { URL: ' a ' },
  { URL: 'a', URL_FILE: '' },
  { URL: 'a', URL_FILE: mounted('other', ' b ') },
  { URL_FILE: mounted('empty', '') },
])('the tools read a variable as the processes do: %j', (environment) => {
  const { config } = readConfig(z.object({ URL: z.string().optional() }), environment);
  expect(textOf('URL', environment)).toBe(config.URL);
});

it('the database of a service is on the server that the service uses, unless it is named', () => {
  const environment = (url: string) => ({ DATABASE_URL_CONTACTS: url, MIGRATE_DATABASE_URL: admin });
  expect(
    databaseFromEnvironment('contacts', environment(service.replace('@postgres/', '@postgres:5432/'))),
  ).toBe('postgres://root:top@postgres/plinth_contacts');
  for (const moved of ['@second/', '@postgres:5433/'].map((server) =>
    service.replace('@postgres/', server),
  )) {
    expect(() => databaseFromEnvironment('contacts', environment(moved))).toThrow(
      'set MIGRATE_DATABASE_URL_CONTACTS',
    );
    const named = 'postgres://reader:all@second/plinth_contacts';
    const environmentThatNamesIt = { ...environment(moved), MIGRATE_DATABASE_URL_CONTACTS: named };
    expect(databaseFromEnvironment('contacts', environmentThatNamesIt)).toBe(named);
  }
});
