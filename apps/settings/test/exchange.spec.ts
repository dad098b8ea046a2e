import { HOST_TENANT_ID, type Caller } from '@plinth/kernel/caller';
import { awkwardTexts, openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
import { aCaller } from '@plinth/testing/http';
import { eventually } from '@plinth/testing/eventually';
import { grpcServices } from '../src/grpc/server';
import { startSettings, type Settings } from './start-settings';

const culture = 'Service.Localization.PreferredCulture';
const definition = 'Settings.Values';
const columns = ['name', 'scope', 'userId', 'value'];
const start = { definition, columns, mode: 'UPSERT', commit: 'EACH_BATCH' } as const;

describe('Settings.Values in imports and exports', () => {
  let settings: Settings;
  let owner: ExchangeOwner;

  beforeAll(async () => {
    settings = await startSettings();
    owner = await openExchangeOwner(grpcServices(settings));
    await settings.definitions.register('shop', [
      {
        name: 'Shop.Motto',
        description: 'Any text.',
        defaultValue: null,
        scopes: ['user'],
        isVisibleToUsers: true,
        isSecret: false,
        schema: { type: 'string' },
      },
      {
        name: 'Shop.Token',
        description: 'A secret.',
        defaultValue: null,
        scopes: ['tenant'],
        isVisibleToUsers: false,
        isSecret: true,
        schema: { type: 'string' },
      },
    ]);
  });
  afterAll(async () => {
    await owner.close();
    await settings.close();
  });

  it('sets imported values with history, and exports them again', async () => {
    const caller = aCaller();
    const http = settings.as(caller);
    await http.put(`/settings/tenant/${culture}`, { value: 'de' });
    const { results } = await owner.importRows(caller, start, [
      [
        [2, culture, 'tenant', '', 'fr'],
        [3, culture, 'User', 'ada', 'en-GB'],
      ],
    ]);

    expect(results).toMatchObject([{ inserted: 1, updated: 1, failed: 0 }]);
    expect(await owner.exportRows(caller, { definition, fields: columns })).toEqual([
      [culture, 'tenant', '', 'fr'],
      [culture, 'user', 'ada', 'en-GB'],
    ]);
    const { body } = await http.get(`/settings/tenant/${culture}/history`);
    expect(body.items[0]).toMatchObject({ previousValue: 'de', newValue: 'fr' });
  });

  it('changes nothing where a setting has the imported value already', async () => {
    const caller = aCaller();
    const rows = [[2, culture, 'tenant', '', 'fr']];
    for (let times = 0; times < 2; times++)
      expect((await owner.importRows(caller, start, [rows])).results).toMatchObject([{ failed: 0 }]);
    const { jobId } = await owner.importRows(caller, start, [rows]);
    expect(await owner.undoImport(caller, { definition, jobId })).toMatchObject([{ restored: 1 }]);
    const { body } = await settings.as(caller).get(`/settings/tenant/${culture}/history`);
    expect(body.items).toMatchObject([{ previousValue: null, newValue: 'fr' }]);
  });

  it('come back from an export as they were, whatever their texts are', async () => {
    const [from, to] = [aCaller(), aCaller()];
    const rows = awkwardTexts.map((text, index) => [index + 2, 'Shop.Motto', 'user', `u${index}`, text]);
    await owner.importRows(from, start, [rows]);

    expect(await owner.copyRows(from, to, start)).toEqual([]);
    const stored = (caller: Caller) => owner.exportRows(caller, { definition, fields: columns });
    const copied = (await stored(to)).map(([, , , value]) => value);
    expect(copied.toSorted()).toEqual(awkwardTexts.toSorted());
    expect(await stored(to)).toEqual(await stored(from));
  });

  it('imports a file without a column for the user where no row has one', async () => {
    const caller = aCaller();
    const { results } = await owner.importRows(caller, { ...start, columns: ['name', 'scope', 'value'] }, [
      [[2, culture, 'tenant', 'fr']],
    ]);

    expect(results).toMatchObject([{ inserted: 1, failed: 0 }]);
  });

  it('refuses rows that break the rules of a change, each with its column', async () => {
    const caller = aCaller();
    const { results } = await owner.importRows(caller, start, [
      [
        [2, 'No.Such', 'tenant', '', 'x'],
        [3, culture, 'tenant', '', 'not a culture'],
        [4, culture, 'global', '', 'fr'],
        [5, culture, 'user', '', 'fr'],
        [6, culture, 'tenant', 'ada', 'fr'],
        [7, culture, 'planet', '', 'fr'],
        [8, 'Shop.Token', 'user', 'ada', 'x'],
        [9, 'Shop.Token', 'tenant', '', '***'],
        [10, culture, 'user', 'bob', 'fr'],
        [11, 'Shop.Motto', 'user', 'ada', '***'],
      ],
    ]);

    expect(results).toMatchObject([{ inserted: 1, failed: 9 }]);
    expect(results[0]!.failures.map(({ rowNumber, details }) => [rowNumber, details[0]!.column])).toEqual([
      [2, 'name'],
      [3, 'value'],
      [4, 'scope'],
      [5, 'userId'],
      [6, 'userId'],
      [7, 'scope'],
      [8, 'scope'],
      [9, 'value'],
      [11, 'value'],
    ]);
  });

  it('restores the former values with history when an import is undone', async () => {
    const caller = aCaller();
    const http = settings.as(caller);
    await http.put(`/settings/tenant/${culture}`, { value: 'de' });
    const { jobId } = await owner.importRows(caller, start, [
      [
        [2, culture, 'tenant', '', 'fr'],
        [3, 'Shop.Token', 'tenant', '', 'open sesame'],
      ],
    ]);

    expect(await owner.undoImport(caller, { definition, jobId })).toMatchObject([
      { removed: 1, restored: 1 },
    ]);

    expect((await http.get(`/settings/tenant/${culture}`)).body.value).toBe('de');
    expect((await http.get('/settings/tenant/Shop.Token')).body.value).toBeNull();
    const last = async (name: string) => (await http.get(`/settings/tenant/${name}/history`)).body.items[0];
    expect(await last(culture)).toMatchObject({ kind: 'Set', previousValue: 'fr', newValue: 'de' });
    expect(await last('Shop.Token')).toMatchObject({ kind: 'Cleared', previousValue: '***', newValue: null });
  });

  it('leaves values that the caller may not change, or below a lock, when an import is undone', async () => {
    const host = aCaller({ tenantId: HOST_TENANT_ID });
    const ofHost = await owner.importRows(host, start, [[[2, culture, 'global', '', 'fr']]]);
    const other = aCaller({ ...host, permissions: ['Settings.Tenant.Manage'] });
    const undone = await owner.undoImport(other, { definition, jobId: ofHost.jobId });
    expect(undone).toMatchObject([{ removed: 0, kept: [{ rowNumber: 2, reason: 'Refused' }] }]);
    expect(await owner.undoImport(other, { definition, jobId: ofHost.jobId })).toEqual(undone);
    const undo = () => owner.undoImport(host, { definition, jobId: ofHost.jobId });
    expect(await undo()).toMatchObject([{ removed: 1, kept: [] }]);
    expect(await undo()).toMatchObject([{ removed: 1, kept: [] }]);

    const caller = aCaller();
    const { jobId } = await owner.importRows(caller, start, [[[2, culture, 'user', 'ada', 'fr']]]);
    await settings.as(caller).put(`/settings/tenant/${culture}/lock`);
    expect(await owner.undoImport(caller, { definition, jobId })).toMatchObject([
      { removed: 0, kept: [{ rowNumber: 2, key: `user, ada, ${culture}`, reason: 'Refused' }] },
    ]);
  });

  /** Values with their ids, as an export has them that can be imported again. */
  const withIds = async (caller: Caller, fields = columns): Promise<Record<string, unknown>[]> =>
    (await owner.exportRows(caller, { definition, fields, includeId: true })).map((cells) =>
      Object.fromEntries(['id', ...fields].map((name, at) => [name, cells[at]])),
    );

  it('takes no value of all tenants for one of the own tenant by its id', async () => {
    const host = aCaller({ tenantId: HOST_TENANT_ID });
    await settings.as(host).put(`/settings/global/${culture}`, { value: 'fr' });
    const reader = aCaller({
      tenantId: HOST_TENANT_ID,
      permissions: [...host.permissions].filter((one) => one !== 'Settings.Global.Manage'),
    });
    const ofAll = (await withIds(reader)).find(({ scope }) => scope === 'global')!;

    const { results } = await owner.importRows(reader, { ...start, columns: ['id', ...columns] }, [
      [[2, ofAll['id'], culture, 'tenant', '', 'de']],
    ]);

    expect(results).toMatchObject([
      {
        ...{ inserted: 0, updated: 0, failed: 1 },
        failures: [{ kind: 'Identity', details: [{ code: 'Service:Identity:OtherKey', column: 'scope' }] }],
      },
    ]);
    const { body } = await settings.as(host).get(`/settings/global/${culture}`);
    expect(body.value).toBe('fr');
    await settings.as(host).delete(`/settings/global/${culture}`);
  });

  it('shows nothing by its id to a caller who may not see it', async () => {
    const host = aCaller({ tenantId: HOST_TENANT_ID });
    await settings.as(host).put(`/settings/global/${culture}`, { value: 'fr' });
    const ofAll = (await withIds(host)).find(({ scope }) => scope === 'global')!;
    const blind = aCaller({ tenantId: HOST_TENANT_ID, permissions: ['Settings.Tenant.Manage'] });

    const { results } = await owner.importRows(blind, { ...start, columns: ['id', ...columns] }, [
      [[2, ofAll['id'], culture, 'tenant', '', 'de']],
    ]);

    expect(results[0]!.failures).toMatchObject([{ details: [{ code: 'Service:Identity:UnknownId' }] }]);
    await settings.as(host).delete(`/settings/global/${culture}`);
  });

  it('finds values by their ids where a file lacks a part of their key, with the history of each', async () => {
    const caller = aCaller();
    await owner.importRows(caller, start, [
      [
        [2, culture, 'user', 'ada', 'fr'],
        [3, culture, 'user', 'bob', 'fr'],
        [4, culture, 'tenant', '', 'fr'],
      ],
    ]);
    const some = ['name', 'scope', 'value'];
    const rows = (await withIds(caller, some)).map(({ id, name, scope }, at) => [
      at + 2,
      id,
      name,
      scope,
      'de',
    ]);

    const { results } = await owner.importRows(caller, { ...start, columns: ['id', ...some] }, [
      [...rows, [5, '', culture, 'tenant', 'it']],
    ]);

    expect(results).toMatchObject([
      {
        updated: 3,
        failed: 1,
        failures: [{ rowNumber: 5, details: [{ code: 'Service:Identity:DuplicateKey' }] }],
      },
    ]);
    expect((await owner.exportRows(caller, { definition, fields: columns })).toSorted()).toEqual([
      [culture, 'tenant', '', 'de'],
      [culture, 'user', 'ada', 'de'],
      [culture, 'user', 'bob', 'de'],
    ]);
    const { body } = await settings.as(caller).get(`/settings/tenant/${culture}/history`);
    expect(body.items[0]).toMatchObject({ kind: 'Set', previousValue: 'fr', newValue: 'de' });
  });

  it('writes a value once that a file without its whole key names twice, also where duplicate keys were looked for before', async () => {
    const caller = aCaller();
    await owner.importRows(caller, start, [[[2, culture, 'user', 'ada', 'fr']]]);
    const [row] = await withIds(caller);
    const some = ['id', 'name', 'scope', 'value'];

    const { results } = await owner.importRows(caller, { ...start, columns: some, knowsDuplicates: true }, [
      [
        [2, row!['id'], culture, 'user', 'de'],
        [3, row!['id'], culture, 'user', 'it'],
      ],
    ]);

    expect(results).toMatchObject([
      {
        ...{ updated: 1, failed: 1 },
        failures: [{ rowNumber: 3, details: [{ code: 'Service:Identity:DuplicateKey' }] }],
      },
    ]);
    expect(await owner.exportRows(caller, { definition, fields: columns })).toEqual([
      [culture, 'user', 'ada', 'de'],
    ]);
  });

  it('undoes what an earlier version made of the value of another setting, with the rights for both', async () => {
    const caller = aCaller();
    await owner.importRows(caller, start, [[[2, culture, 'tenant', '', 'fr']]]);
    /** Imports a value for that of the tenant, as if it had been another one before. */
    const importedOver = async (former: object, value: string) => {
      const { jobId } = await owner.importRows(caller, start, [[[2, culture, 'tenant', '', value]]]);
      await settings.db.inTenant(caller.tenantId, (tx) =>
        tx.$executeRawUnsafe(
          'UPDATE exchange_former SET former = former || $2::jsonb WHERE job_id = $1::uuid',
          jobId,
          JSON.stringify(former),
        ),
      );
      return jobId;
    };
    const undo = (jobId: string) => owner.undoImport(caller, { definition, jobId });

    const ofAll = await importedOver({ scope: 'global' }, 'de');
    expect(await undo(ofAll)).toMatchObject([{ restored: 0, kept: [{ rowNumber: 2, reason: 'Refused' }] }]);
    const ofAda = await importedOver({ scope: 'user', user_id: 'ada' }, 'it');
    expect(await undo(ofAda)).toMatchObject([{ restored: 1, kept: [] }]);

    expect(await owner.exportRows(caller, { definition, fields: columns })).toEqual([
      [culture, 'user', 'ada', 'de'],
    ]);
    const { body } = await settings.as(caller).get(`/settings/tenant/${culture}/history`);
    expect(body.items[0]).toMatchObject({ kind: 'Cleared', previousValue: 'it', newValue: null });
  });

  it('refuses rows below a lock', async () => {
    const caller = aCaller();
    await settings.as(caller).put(`/settings/tenant/${culture}/lock`);
    const { results } = await owner.importRows(caller, start, [[[2, culture, 'user', 'ada', 'fr']]]);

    expect(results[0]!.failures).toMatchObject([
      { kind: 'Persistence', details: [{ code: 'Service:Persistence:Locked' }] },
    ]);
  });

  it('shows no secret in an export, and cannot be filtered by value', async () => {
    const caller = aCaller();
    await owner.importRows(caller, start, [[[2, 'Shop.Token', 'tenant', '', 'open sesame']]]);

    expect(await owner.exportRows(caller, { definition, fields: columns })).toEqual([
      ['Shop.Token', 'tenant', '', '***'],
    ]);
    const bySecret = { definition, fields: columns, selection: { filter: { 'value.contains': 'open' } } };
    await expect(owner.exportRows(caller, bySecret)).rejects.toMatchObject({ kind: 'malformed' });
    const { body } = await settings.as(caller).get('/settings/tenant/Shop.Token');
    expect(body.value).toBe('***');
  });

  it('imports and exports global values for the host tenant only', async () => {
    const host = aCaller({ tenantId: HOST_TENANT_ID });
    const { results } = await owner.importRows(host, start, [[[2, culture, 'global', '', 'fr']]]);
    const ofTenant = await owner.exportRows(aCaller(), { definition, fields: columns });

    expect(results).toMatchObject([{ inserted: 1 }]);
    expect(ofTenant).toEqual([]);
  });
});

describe('the quota of bytes in long values of settings', () => {
  const LIMIT = 300_000;
  /** 30,000 bytes, of fewer characters. */
  const LONG = '字'.repeat(10_000);
  const MOTTO = 'Shop.Motto';
  let settings: Settings;
  let owner: ExchangeOwner;
  beforeAll(async () => {
    const environment = { SETTINGS_TENANT_LONG_VALUE_BYTES_MAX: `${LIMIT}` };
    settings = await startSettings({ environment });
    owner = await openExchangeOwner(grpcServices(settings));
    const shop = { description: '', defaultValue: null, isVisibleToUsers: true, schema: { type: 'string' } };
    await settings.definitions.register('shop', [
      { ...shop, name: MOTTO, scopes: ['user', 'tenant'], isSecret: false },
      { ...shop, name: 'Shop.Certificate', scopes: ['user'], isSecret: true },
    ]);
  });
  afterAll(async () => {
    await owner.close();
    await settings.close();
  });

  const rowsOf = (user: string, name = MOTTO): [number, ...string[]][] =>
    Array.from({ length: 8 }, (_, at) => [at + 2, name, 'user', `${user} ${at}`, LONG]);
  const put = (caller: Caller, value: string) =>
    settings.as(caller).put(`/settings/user/${MOTTO}`, { value });

  it('refuses people what is beyond it and leaves nothing of that, but nothing that is no longer than before', async () => {
    const { tenantId } = aCaller();
    const ada = aCaller({ tenantId, userId: 'ada 0' });
    await owner.importRows(ada, start, [rowsOf('ada')]);
    const others = Array.from({ length: 5 }, (_, at) => aCaller({ tenantId, userId: `bob ${at}` }));
    let refused = await put(others[0]!, LONG);
    // What is written while values are counted may count twice, and the first one not at all.
    for (const other of others.slice(1)) if (refused.status === 204) refused = await put(other, LONG);

    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'settings-long-value-bytes', scope: 'tenant', limit: LIMIT } },
    });
    const last = others.at(-1)!;
    const batch = await settings.as(last).put('/settings/user', { items: [{ name: MOTTO, value: LONG }] });
    expect(batch.body).toMatchObject({ failureCount: 1, results: [{ error: { status: 429 } }] });
    const { body } = await settings.as(last).get(`/settings/user/${MOTTO}/history`);
    expect(body.items).toEqual([]);
    expect((await put(last, 'short')).status).toBe(204);
    // As often as ada likes, since the history keeps the beginning of each only.
    for (let count = 0; count < 20; count++)
      expect((await put(ada, `${count % 10}${LONG.slice(1)}`)).status).toBe(204);
    expect((await put(aCaller(), LONG)).status).toBe(204);
  });

  it.each([MOTTO, 'Shop.Certificate'])(
    'fails rows of an import that are beyond it, and has room again when that is undone: %s',
    async (name) => {
      const caller = aCaller();
      const first = await owner.importRows(caller, start, [rowsOf('ada', name), rowsOf('bob', name)]);
      expect(first.results).toMatchObject([{ inserted: 8 }, { failed: 8 }]);
      const [failure] = first.results[1]!.failures;
      expect(failure).toMatchObject({ details: [{ code: 'Service:Validation:QuotaExceeded' }] });

      await owner.undoImport(caller, { definition, jobId: first.jobId });

      // Another process counts what is stored now.
      const environment = { SETTINGS_TENANT_LONG_VALUE_BYTES_MAX: `${LIMIT}` };
      const other = await startSettings({ databaseUrl: settings.databaseUrl, environment });
      const ofOther = await openExchangeOwner(grpcServices(other));
      const again = await ofOther.importRows(caller, start, [rowsOf('cid', name), rowsOf('dan', name)]);
      expect(again.results).toMatchObject([{ inserted: 8 }, { failed: 8 }]);
      await ofOther.close();
      await other.close();
    },
  );

  it('needs none for the history, which keeps the beginning of a long value', async () => {
    const caller = aCaller();
    const { jobId } = await owner.importRows(caller, start, [rowsOf('ada')]);
    await owner.undoImport(caller, { definition, jobId });
    const ofAda = aCaller({ ...caller, userId: 'ada 0' });
    const { body } = await settings.as(ofAda).get(`/settings/user/${MOTTO}/history`);
    const kept = `${'字'.repeat(256)}…`;
    expect(body.items).toMatchObject([
      { kind: 'Cleared', previousValue: kept, newValue: null },
      { kind: 'Set', previousValue: null, newValue: kept },
    ]);
  });

  it('takes ids of users that are made up no longer than real ones are', async () => {
    const { results } = await owner.importRows(aCaller(), start, [
      [
        [2, MOTTO, 'user', '😀'.repeat(64), 'x'],
        [3, MOTTO, 'user', '😀'.repeat(63), 'x'],
      ],
    ]);
    expect(results).toMatchObject([{ inserted: 1, failed: 1, failures: [{ rowNumber: 2 }] }]);
  });
});

describe('the history of imported values', () => {
  it('keeps the newest five hundred changes of a setting, as that of others does', async () => {
    const settings = await startSettings();
    const owner = await openExchangeOwner(grpcServices(settings));
    const caller = aCaller();
    const path = `/settings/tenant/${culture}`;
    const http = settings.as(caller);
    await http.put(path, { value: 'fr' });
    await settings.db.inTenant(
      caller.tenantId,
      (tx) => tx.$executeRaw`
        INSERT INTO setting_change (tenant_id, id, scope, user_id, name, kind, changed_at, changed_by)
        SELECT tenant_id, gen_random_uuid(), scope, user_id, name, kind, changed_at - number * interval '1 second', changed_by
        FROM setting_change, generate_series(1, 600) AS number WHERE tenant_id = ${caller.tenantId}::uuid`,
    );
    const isDue = jest.spyOn(Math, 'random').mockReturnValue(0);
    await owner.importRows(caller, start, [[[2, culture, 'tenant', '', 'de']]]);
    isDue.mockRestore();
    expect((await http.get(`${path}/history?pageSize=1`)).body).toMatchObject({
      totalCount: 500,
      items: [{ previousValue: 'fr', newValue: 'de' }],
    });
    await owner.close();
    await settings.close();
  });
});

describe('the quota of changes of settings', () => {
  it('has the oldest ones removed for an import that is beyond it, and fails what is more than all of it, or has too many values', async () => {
    const environment = { SETTINGS_TENANT_CHANGES_MAX: '10', SETTINGS_TENANT_VALUES_MAX: '20' };
    const settings = await startSettings({ environment });
    const owner = await openExchangeOwner(grpcServices(settings));
    const caller = aCaller();
    const rowsOf = (user: string, count: number): [number, ...string[]][] =>
      Array.from({ length: count }, (_, at) => [at + 2, culture, 'user', `${user} ${at}`, 'fr']);
    const historyOf = async (userId: string) =>
      (await settings.as(aCaller({ ...caller, userId })).get(`/settings/user/${culture}/history`)).body
        .totalCount;
    await owner.importRows(caller, start, [rowsOf('ada', 8)]);

    // Jobs are turned away until there is room, and go on by themselves.
    const { results } = await eventually(() =>
      owner.importRows(caller, start, [rowsOf('bob', 8)]).catch(() => undefined),
    );

    expect(results).toMatchObject([{ inserted: 8 }]);
    expect([await historyOf('ada 0'), await historyOf('ada 7'), await historyOf('bob 0')]).toEqual([0, 1, 1]);
    const quotaExceeded = { details: [{ code: 'Service:Validation:QuotaExceeded' }] };
    const fails = async (user: string, count: number) =>
      (await eventually(() => owner.importRows(caller, start, [rowsOf(user, count)]).catch(() => undefined)))
        .results;
    expect(await fails('cid', 11)).toMatchObject([{ failed: 11 }]);
    // The values stay, so that there may be so many of them.
    const [ofTooMany] = await fails('dan', 5);
    expect(ofTooMany).toMatchObject({ inserted: 0, failed: 5 });
    expect(ofTooMany!.failures[0]).toMatchObject(quotaExceeded);
    await owner.close();
    await settings.close();
  });
});
