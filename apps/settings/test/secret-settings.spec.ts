import type { SettingDefinition } from '@plinth/contracts/settings/shapes';
import { createSettingsClient, type SettingsClient } from '@plinth/clients/settings-client';
import { newId } from '@plinth/kernel/uuid';
import { silentLog } from '@plinth/runtime/process/log';
import { serveGrpc } from '@plinth/runtime/rpc/grpc';
import { eventually } from '@plinth/testing/eventually';
import { openExchangeOwner } from '@plinth/testing/exchange-owner';
import { aCaller, TEST_KEYS } from '@plinth/testing/http';
import { Client } from 'pg';
import { grpcServices } from '../src/grpc/server';
import { keyOfDefinition } from '../src/store/setting-changes';
import { startSettings, type Settings } from './start-settings';

const OTHER = 'Service.Localization.PreferredCulture';
const columns = ['name', 'scope', 'userId', 'value'];
const imported = { definition: 'Settings.Values', columns, mode: 'UPSERT', commit: 'EACH_BATCH' } as const;

const aDefinition = (parts: Partial<SettingDefinition> = {}): SettingDefinition => ({
  name: `Shop.Token.${newId()}`,
  description: 'for the test',
  defaultValue: null,
  scopes: ['user', 'tenant'],
  isVisibleToUsers: true,
  isSecret: false,
  schema: { type: 'string' },
  ...parts,
});

interface Replica {
  service: Settings;
  client: SettingsClient;
  close(): Promise<void>;
}

async function startServed(options?: Parameters<typeof startSettings>[0]): Promise<Replica> {
  const service = await startSettings(options);
  const grpc = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, grpcServices(service));
  const config = { GRPC_SERVICES: { settings: `127.0.0.1:${grpc.port}` }, CALLER_KEYS: TEST_KEYS };
  const client = createSettingsClient(config, silentLog());
  return {
    service,
    client,
    async close() {
      await client.close();
      await grpc.close();
      await service.close();
    },
  };
}

let replica: Replica;
let service: Settings;
let client: SettingsClient;
let admin: Client;

beforeAll(async () => {
  replica = await startServed();
  ({ service, client } = replica);
  admin = new Client({ connectionString: service.database!.adminUrl });
  await admin.connect();
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await admin.end();
  await replica.close();
});

/** As every service does it: again, where a change of the setting took longer than a registration waits. */
const register = (definition: SettingDefinition) =>
  eventually(async () => {
    await service.definitions.register('shop', [definition]);
    return true;
  });

/** Everything that the database holds about a setting, as one text. */
async function storedOf(name: string): Promise<string> {
  const { rows } = await admin.query(
    `SELECT value FROM setting_value WHERE name = $1
     UNION ALL SELECT concat(previous_value, ' ', new_value) FROM setting_change WHERE name = $1
     UNION ALL SELECT former ->> 'value' FROM exchange_former WHERE former ->> 'name' = $1`,
    [name],
  );
  return rows.map(({ value }) => value).join('\n');
}

const isWaitedForLock = async (): Promise<boolean> => {
  const { rows } = await admin.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`,
  );
  return rows.length > 0;
};

const historyOf = async (name: string, as: ReturnType<Settings['as']>, scope = 'tenant') =>
  (await as.get(`/settings/${scope}/${name}/history`)).body.items.map(
    ({ previousValue, newValue }: { previousValue: string | null; newValue: string | null }) => [
      previousValue,
      newValue,
    ],
  );

describe('a setting that a release makes secret', () => {
  it('is resolved as before, and nowhere stored or shown in clear', async () => {
    const definition = aDefinition();
    const { name } = definition;
    const [ada, bob] = [aCaller(), aCaller()];
    await register(definition);
    await service.as(ada).put(`/settings/tenant/${name}`, { value: 'hunter1' });
    await service.as(ada).put(`/settings/tenant/${name}`, { value: 'hunter2' });
    await service.as(ada).put(`/settings/tenant/${OTHER}`, { value: 'fr' });
    await service.as(bob).put(`/settings/user/${name}`, { value: 'hunter3' });
    await service.as(bob).put(`/settings/tenant/${name}`, { value: 'hunter4' });
    await service.as(bob).delete(`/settings/tenant/${name}`);

    client.register('shop', [{ ...definition, isSecret: true }]);
    await eventually(
      async () => (await service.as(ada).get(`/settings/tenant/${name}`)).body.value === '***',
    );

    expect(await client.resolve({ tenantId: ada.tenantId }, [name, OTHER])).toEqual({
      [name]: 'hunter2',
      [OTHER]: 'fr',
    });
    expect(await client.resolve(bob, [])).toMatchObject({ [name]: 'hunter3' });
    expect(await client.resolveVisible(bob, [name])).toEqual({ [name]: '***' });
    expect(await historyOf(name, service.as(ada))).toEqual([
      ['***', '***'],
      [null, '***'],
    ]);
    expect(await historyOf(name, service.as(bob))).toEqual([
      ['***', null],
      [null, '***'],
    ]);
    expect(await storedOf(name)).not.toContain('hunter');
  });

  it('is sealed by a process that does not know it yet, and read by it', async () => {
    const definition = aDefinition();
    const { name } = definition;
    const caller = aCaller();
    await register(definition);
    const { databaseUrl, natsPrefix } = service;
    const late = await startServed({ databaseUrl, natsPrefix });
    const owner = await openExchangeOwner(grpcServices(late.service));
    const path = `/settings/user/${name}`;
    await late.service.as(caller).put(path, { value: 'hunter1' });
    // What it knows of definitions stays as it is while its clock stands still.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    expect((await late.service.as(caller).get(path)).body.value).toBe('hunter1');

    await register({ ...definition, isSecret: true });
    await late.service.as(caller).put(path, { value: 'hunter2' });
    await owner.importRows(caller, imported, [[[2, name, 'tenant', '', 'hunter3']]]);

    expect((await late.service.definitions.all()).get(name)).toMatchObject({ isSecret: false });
    expect(await late.client.resolve(caller, [name])).toEqual({ [name]: 'hunter2' });
    expect(await late.client.resolve({ tenantId: caller.tenantId }, [name])).toEqual({ [name]: 'hunter3' });
    expect((await late.service.as(caller).get(path)).body.value).toBe('***');
    expect(await storedOf(name)).not.toContain('hunter');
    await owner.close();
    await late.close();
  });

  it('seals what is written at the same moment', async () => {
    const definition = aDefinition();
    const { name } = definition;
    // Fewer than there are connections: others would wait for one, and not for as long as a slow machine takes.
    const callers = Array.from({ length: 10 }, () => aCaller());
    await register(definition);

    const written = callers.map((caller, index) =>
      service.as(caller).put(`/settings/tenant/${name}`, { value: `hunter-${index}` }),
    );
    await register({ ...definition, isSecret: true });

    expect((await Promise.all(written)).map(({ status }) => status)).toEqual(callers.map(() => 204));
    expect(await storedOf(name)).not.toContain('hunter');
    const [first] = callers;
    expect(await client.resolve({ tenantId: first!.tenantId }, [name])).toEqual({ [name]: 'hunter-0' });
  });

  it('waits for a change that began before, and seals it', async () => {
    const definition = aDefinition();
    const { name } = definition;
    const caller = aCaller();
    await register(definition);
    const waiting = await holdChange(name, caller.tenantId);
    const registered = register({ ...definition, isSecret: true });
    await eventually(isWaitedForLock);
    await waiting.write('hunter2');
    await registered;

    expect(await storedOf(name)).not.toContain('hunter');
    expect(await client.resolve({ tenantId: caller.tenantId }, [name])).toEqual({ [name]: 'hunter2' });
  });

  it('holds up no change that began before and goes on to another that becomes secret too', async () => {
    const definitions = [aDefinition(), aDefinition()];
    const [first, last] = definitions.map(({ name }) => name).toSorted() as [string, string];
    await service.definitions.register('shop', definitions);
    const changing = new Client({ connectionString: service.databaseUrl });
    await changing.connect();
    const lock = (name: string) =>
      changing.query<{ locked: boolean }>(
        'SELECT pg_try_advisory_xact_lock_shared(hashtextextended($1, 0)) AS locked',
        [keyOfDefinition(name)],
      );
    await changing.query('BEGIN');
    await lock(last);
    const registered = service.definitions.register(
      'shop',
      definitions.map((definition) => ({ ...definition, isSecret: true })),
    );
    await eventually(isWaitedForLock);

    const { rows } = await lock(first);
    await changing.end();
    await registered;

    expect(rows).toEqual([{ locked: true }]);
  });

  it('is registered while imports hold it, keeps no process from being ready, and is sealed when they have ended', async () => {
    const [definition, other] = [aDefinition(), aDefinition()];
    const { name } = definition;
    const caller = aCaller();
    await register(definition);
    const owner = await openExchangeOwner(grpcServices(service));
    const held = await holdChange(name, caller.tenantId);

    await service.definitions.register('shop', [
      { ...definition, isSecret: true, description: 'changed' },
      other,
    ]);
    const known = await service.definitions.all();
    expect(known.get(name)).toMatchObject({ isSecret: false, description: 'changed' });
    expect(known.has(other.name)).toBe(true);
    const { databaseUrl, natsPrefix } = service;
    const late = await startSettings({ databaseUrl, natsPrefix });
    expect(await late.health.readiness()).toMatchObject({ ready: true });
    const importing = owner.importRows(caller, { ...imported, commit: 'ALL_OR_NOTHING' }, [
      [[2, name, 'tenant', '', 'hunter3']],
    ]);
    await expect(importing).rejects.toMatchObject({ kind: 'overloaded' });

    await held.write('hunter2');
    await eventually(async () => (await service.definitions.all()).get(name)?.isSecret);
    expect(await storedOf(name)).not.toContain('hunter');
    expect(await client.resolve({ tenantId: caller.tenantId }, [name])).toEqual({ [name]: 'hunter2' });
    await late.close();
    await owner.close();
  });

  it('is sealed when imports have ended that hold it, though the process is gone that registered it', async () => {
    const definition = aDefinition();
    const { name } = definition;
    await register(definition);
    const { databaseUrl, natsPrefix } = service;
    const gone = await startSettings({ databaseUrl, natsPrefix });
    const held = await holdChange(name, newId());
    await gone.definitions.register('shop', [{ ...definition, isSecret: true }]);
    expect((await gone.definitions.all()).get(name)).toMatchObject({ isSecret: false });
    await gone.close();

    await held.write('hunter2');
    await eventually(async () => (await service.definitions.all()).get(name)?.isSecret);
    expect(await storedOf(name)).not.toContain('hunter');
  });

  it('stays sealed when an import from before is undone', async () => {
    const definition = aDefinition();
    const { name } = definition;
    const caller = aCaller();
    const owner = await openExchangeOwner(grpcServices(service));
    await register(definition);
    await service.as(caller).put(`/settings/tenant/${name}`, { value: 'hunter1' });
    const { jobId } = await owner.importRows(caller, imported, [[[2, name, 'tenant', '', 'hunter2']]]);

    await register({ ...definition, isSecret: true });
    expect(await storedOf(name)).not.toContain('hunter');

    expect(await owner.undoImport(caller, { definition: 'Settings.Values', jobId })).toMatchObject([
      { restored: 0, kept: [{ rowNumber: 2, reason: 'ChangedSince' }] },
    ]);
    expect(await client.resolve({ tenantId: caller.tenantId }, [name])).toEqual({ [name]: 'hunter2' });
    await owner.close();
  });

  it('is a secret for ever: a release that says otherwise opens nothing', async () => {
    const definition = aDefinition({ isSecret: true });
    const { name } = definition;
    const caller = aCaller();
    await register(definition);
    await service.as(caller).put(`/settings/tenant/${name}`, { value: 'hunter1' });

    await register({ ...definition, isSecret: false, description: 'changed' });
    await service.as(caller).put(`/settings/user/${name}`, { value: 'hunter2' });

    expect((await service.definitions.all()).get(name)).toMatchObject({
      isSecret: true,
      description: 'changed',
    });
    expect((await service.as(caller).get(`/settings/tenant/${name}`)).body.value).toBe('***');
    expect(await client.resolve({ tenantId: caller.tenantId }, [name])).toEqual({ [name]: 'hunter1' });
    expect(await storedOf(name)).not.toContain('hunter');
    // As versions before read it.
    const { rows } = await admin.query('SELECT is_secret FROM setting_definition WHERE name = $1', [name]);
    expect(rows).toEqual([{ is_secret: true }]);
  });
});

describe('a secret of which a version before left values in clear', () => {
  /** As that version left it: registered as a secret, with these values. */
  async function leave(name: string, parts: { isSecret?: boolean; isSealed?: boolean; values: string[] }) {
    const { isSecret = true, isSealed = false, values } = parts;
    await admin.query('UPDATE setting_definition SET is_secret = $2, is_sealed = $3 WHERE name = $1', [
      name,
      isSecret,
      isSealed,
    ]);
    const tenants = values.map(() => newId());
    await admin.query(
      `INSERT INTO setting_value (tenant_id, scope, user_id, name, value)
       SELECT unnest($1::uuid[]), 'tenant', '', $2, unnest($3::text[])`,
      [tenants, name, values],
    );
    return tenants;
  }
  const resolvedOf = (name: string, tenants: readonly string[]) =>
    Promise.all(tenants.map(async (tenantId) => (await client.resolve({ tenantId }, [name]))[name]));

  it('has them sealed by whichever definitions are registered next', async () => {
    const definition = aDefinition();
    await register(definition);
    const { name } = definition;
    const tenants = await leave(name, { values: ['hunter2', service.box.seal('hunter3')] });

    await register(aDefinition());

    expect(await storedOf(name)).not.toContain('hunter');
    expect(await resolvedOf(name, tenants)).toEqual(['hunter2', 'hunter3']);
  });

  it('keeps what another key has sealed as it is, and resolves everything else', async () => {
    const definition = aDefinition();
    await register(definition);
    const { name } = definition;
    const foreign = Buffer.alloc(40, 7).toString('base64');
    const [tenantId] = await leave(name, { values: [foreign] });

    await register(aDefinition());

    expect(await storedOf(name)).toBe(foreign);
    await service.as(aCaller({ tenantId: tenantId! })).put(`/settings/tenant/${OTHER}`, { value: 'fr' });
    expect(await client.resolve({ tenantId: tenantId! }, [name, OTHER])).toEqual({
      [name]: null,
      [OTHER]: 'fr',
    });
  });

  it('is a secret again that such a version registered as none', async () => {
    const definition = aDefinition({ isSecret: true });
    await register(definition);
    const { name } = definition;
    const values = [service.box.seal('hunter2')];
    const tenants = await leave(name, { isSecret: false, isSealed: true, values });

    expect(await resolvedOf(name, tenants)).toEqual(['hunter2']);
    await leave(name, { isSecret: false, isSealed: true, values: ['hunter3'] });
    await register(aDefinition());

    expect(await storedOf(name)).not.toContain('hunter');
    const { rows } = await admin.query('SELECT is_secret FROM setting_definition WHERE name = $1', [name]);
    expect(rows).toEqual([{ is_secret: true }]);
  });
});

/** Begins a change as a writer does, before it knows of a new definition. */
async function holdChange(name: string, tenantId: string) {
  const writer = new Client({ connectionString: service.databaseUrl });
  await writer.connect();
  await writer.query(`BEGIN; SET LOCAL plinth.tenant_id = '${tenantId}'`);
  await writer.query('SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))', [keyOfDefinition(name)]);
  return {
    async write(value: string) {
      await writer.query(
        `INSERT INTO setting_value (tenant_id, scope, user_id, name, value) VALUES ($1, 'tenant', '', $2, $3)`,
        [tenantId, name, value],
      );
      await writer.query('COMMIT');
      await writer.end();
    },
  };
}
