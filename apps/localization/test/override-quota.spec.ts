import type { RowQuotaDeps } from '@plinth/http/row-quota';
import type { Caller } from '@plinth/kernel/caller';
import { silentLog } from '@plinth/runtime/process/log';
import { openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
import { aCaller } from '@plinth/testing/http';
import { Client } from 'pg';
import { Registry } from 'prom-client';
import { grpcServices } from '../src/grpc/server';
import { textQuota } from '../src/store/text-quota';
import { startLocalization, type Localization } from './start-localization';

type Commit = 'EACH_BATCH' | 'NEVER';

describe('the quota of texts of a tenant', () => {
  let localization: Localization;
  let owner: ExchangeOwner;
  beforeAll(async () => {
    localization = await startLocalization({ environment: { LOCALIZATION_TENANT_OVERRIDES_MAX: '20' } });
    owner = await openExchangeOwner(grpcServices(localization));
  });
  afterAll(async () => {
    await owner.close();
    await localization.close();
  });

  const item = (key: string, value = 'Un') => ({ resourceName: 'Shop', cultureName: 'fr', key, value });

  // What is written while rows are counted may count twice, and the first one not at all.
  it('refuses new texts beyond it one by one, in a batch and in an import, and lets others change', async () => {
    const caller = aCaller();
    const http = localization.as(caller);
    const put = (key: string, value?: string) =>
      http.put(`/localization/overrides/Shop/fr/${key}`, { value: value ?? 'Un' });
    const putMany = (...keys: string[]) =>
      http.put('/localization/overrides', { items: keys.map((key) => item(key)) });

    for (let count = 0; count < 10; count++) expect((await put(`k${count}`)).status).toBe(204);
    for (let count = 10; count < 21; count++) await put(`k${count}`);
    const refused = await put('new');
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'texts', scope: 'tenant', limit: 20 } },
    });
    expect((await putMany('k0', 'new')).status).toBe(429);
    expect([(await put('k0', 'Deux')).status, (await putMany('k0', 'k1')).status]).toEqual([204, 207]);
    const texts = (await http.get('/localization/overrides?resourceName=Shop&cultureName=fr')).body;
    expect([texts.k0, texts.new]).toEqual(['Un', undefined]);

    const imported = await owner.importRows(
      caller,
      {
        definition: 'Localization.Overrides',
        columns: ['resourceName', 'cultureName', 'key', 'value'],
        mode: 'UPSERT',
        commit: 'EACH_BATCH',
      },
      [[[2, 'Shop', 'fr', 'e', 'Un']]],
    );
    expect(imported.results[0]).toMatchObject({
      failed: 1,
      failures: [{ details: [{ code: 'Service:Validation:QuotaExceeded' }] }],
    });
  });
});

describe('the quota of bytes in long texts of a tenant', () => {
  // Of twenty, with their names.
  const LIMIT = 121_000;
  /** 6,000 bytes. */
  const LONG = '字'.repeat(2_000);
  const SHORT = '字'.repeat(300);
  let localization: Localization;
  let owner: ExchangeOwner;
  beforeAll(async () => {
    const environment = { LOCALIZATION_TENANT_LONG_TEXT_BYTES_MAX: `${LIMIT}` };
    localization = await startLocalization({ environment });
    owner = await openExchangeOwner(grpcServices(localization));
  });
  afterAll(async () => {
    await owner.close();
    await localization.close();
  });

  const refused = {
    status: 429,
    body: { quota: { name: 'long-text-bytes', scope: 'tenant', limit: LIMIT } },
  };
  const writer = (caller: Caller) => {
    const http = localization.as(caller);
    return {
      put: (key: string, value: string) => http.put(`/localization/overrides/Shop/fr/${key}`, { value }),
      putMany: (values: Record<string, string>) =>
        http.put('/localization/overrides', {
          items: Object.entries(values).map(([key, value]) => ({
            resourceName: 'Shop',
            cultureName: 'fr',
            key,
            value,
          })),
        }),
      texts: async () =>
        (await http.get('/localization/overrides?resourceName=Shop&cultureName=fr')).body as Record<
          string,
          string
        >,
    };
  };
  const start = {
    definition: 'Localization.Overrides',
    columns: ['resourceName', 'cultureName', 'key', 'value'],
    mode: 'UPSERT' as const,
    commit: 'EACH_BATCH' as const,
  };
  const importTexts = async (
    caller: Caller,
    keys: string[],
    value: string,
    commit: Commit = 'EACH_BATCH',
  ) => {
    const rows = keys.map((key, index) => [index + 2, 'Shop', 'fr', key, value]);
    const { results } = await owner.importRows(caller, { ...start, commit }, [rows]);
    const { inserted, updated, failures } = results[0]!;
    return { inserted, updated, failed: failures.map(({ details }) => details[0]!.code) };
  };
  const countTexts = (tenantId: string) =>
    localization.quota!.forImport({ jobId: 'a job', isDryRun: false }).whenKnown(tenantId, Infinity);
  const keysFrom = (first: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${first}${at}`);
  const isRefused = (failed: number) => ({
    inserted: 0,
    updated: 0,
    failed: Array<string>(failed).fill('Service:Validation:QuotaExceeded'),
  });

  // What is written while texts are counted may count twice, and the first one not at all.
  it('refuses long ones beyond it one by one and in a batch, and leaves nothing of them', async () => {
    const { put, putMany, texts } = writer(aCaller());
    let answer = await put('k0', LONG);
    let count = 1;
    for (; answer.status === 204 && count <= 21; count++) answer = await put(`k${count}`, LONG);
    const written = count - 1;

    expect(written).toBeGreaterThanOrEqual(10);
    expect({ status: answer.status, body: answer.body }).toMatchObject(refused);
    expect(await putMany({ short: SHORT, new: LONG })).toMatchObject(refused);
    expect(Object.keys(await texts())).toHaveLength(written);
  });

  it('lets short ones be written beyond it, and long ones be changed that get no longer', async () => {
    const { put, putMany, texts } = writer(aCaller());
    expect((await putMany(Object.fromEntries(keysFrom('k', 20).map((key) => [key, LONG])))).status).toBe(207);

    expect(await put('new', LONG)).toMatchObject(refused);
    expect((await put('short', SHORT)).status).toBe(204);
    expect((await put('k0', LONG.replaceAll('字', '語'))).status).toBe(204);
    expect((await putMany({ k1: LONG, k2: LONG.slice(1), other: SHORT })).status).toBe(207);
    expect(await put('short', LONG)).toMatchObject(refused);
    expect(await putMany({ other: LONG })).toMatchObject(refused);
    expect(await texts()).toMatchObject({ k0: LONG.replaceAll('字', '語'), short: SHORT, other: SHORT });
  });

  it('counts the names of texts too', async () => {
    const { putMany } = writer(aCaller());
    const items = (count: number) =>
      Object.fromEntries(keysFrom('字'.repeat(400), count).map((key) => [key, 'x']));
    expect(await putMany(items(101))).toMatchObject(refused);
    expect((await putMany(items(99))).status).toBe(207);
  });

  it.each(['EACH_BATCH', 'NEVER'] as const)(
    'refuses imported rows that add long ones: %s',
    async (commit) => {
      const caller = aCaller();
      expect(await importTexts(caller, keysFrom('k', 21), LONG, commit)).toEqual(isRefused(21));
      expect(await importTexts(caller, keysFrom('k', 21), SHORT, commit)).toMatchObject({
        inserted: 21,
        failed: [],
      });
    },
  );

  it.each(['EACH_BATCH', 'NEVER'] as const)(
    'refuses imported rows that make texts long: %s',
    async (commit) => {
      const caller = aCaller();
      await importTexts(caller, keysFrom('a', 15), LONG);
      await importTexts(caller, keysFrom('b', 15), SHORT);

      expect(await importTexts(caller, keysFrom('b', 15), LONG, commit)).toEqual(isRefused(15));
      expect(await importTexts(caller, keysFrom('b', 15), `${SHORT}!`, commit)).toMatchObject({
        updated: 15,
      });
    },
  );

  it('takes the room of imported texts that get long', async () => {
    const caller = aCaller();
    await importTexts(caller, keysFrom('a', 15), SHORT);
    // Whoever is counted is not counted again for a minute.
    await countTexts(caller.tenantId);
    expect(await importTexts(caller, keysFrom('a', 15), LONG)).toMatchObject({ updated: 15 });

    const more = Object.fromEntries(keysFrom('b', 6).map((key) => [key, LONG]));
    expect(await writer(caller).putMany(more)).toMatchObject(refused);
    expect(await importTexts(caller, keysFrom('b', 6), LONG)).toEqual(isRefused(6));
  });

  it('takes no room for long texts that are imported once more', async () => {
    const caller = aCaller();
    await importTexts(caller, keysFrom('a', 15), LONG);
    await countTexts(caller.tenantId);

    const batches = [0, 5, 10].map((from) =>
      keysFrom('a', 15)
        .slice(from, from + 5)
        .map((key, index) => [from + index + 2, 'Shop', 'fr', key, LONG]),
    );
    const { results } = await owner.importRows(caller, start, batches);
    expect(results.map(({ updated, failed }) => ({ updated, failed }))).toEqual(
      Array(3).fill({ updated: 5, failed: 0 }),
    );
  });

  it('takes the room of long texts that an undo brings back, and refuses it to nobody', async () => {
    const caller = aCaller();
    await importTexts(caller, keysFrom('a', 15), LONG);
    const rows = keysFrom('a', 15).map((key, index) => [index + 2, 'Shop', 'fr', key, SHORT]);
    const { jobId } = await owner.importRows(caller, start, [rows]);
    await countTexts(caller.tenantId);
    await owner.undoImport(caller, { definition: start.definition, jobId });

    const { putMany, texts } = writer(caller);
    expect(await texts()).toMatchObject({ a0: LONG, a14: LONG });
    expect(await putMany(Object.fromEntries(keysFrom('b', 6).map((key) => [key, LONG])))).toMatchObject(
      refused,
    );
  });

  it('counts long texts in an index that short ones are not in, also where nothing is known of the tenant', async () => {
    const { tenantId } = aCaller();
    const admin = new Client({ connectionString: localization.database!.adminUrl });
    await admin.connect();
    try {
      await admin.query(
        `INSERT INTO override (tenant_id, id, resource_name, culture_name, key, value, modified_by)
         SELECT $1, gen_random_uuid(), 'Shop', 'fr', n::text, repeat('x', CASE WHEN n % 100 = 0 THEN 2000 ELSE 20 END), 'ada'
         FROM generate_series(1, 20000) AS n`,
        [tenantId],
      );
      await admin.query('ANALYZE override');
    } finally {
      await admin.end();
    }
    const plans: string[] = [];
    const explain: RowQuotaDeps['db'] = {
      inTenant: (tenant, work) =>
        localization.db!.inTenant(tenant, (tx) =>
          work({
            ...tx,
            $queryRawUnsafe: async (statement: string, ...values: unknown[]) => {
              const plan = await tx.$queryRawUnsafe<unknown[]>(
                `EXPLAIN (FORMAT JSON) ${statement}`,
                ...values,
              );
              plans.push(JSON.stringify(plan));
              return [{ rows: 0 }] as never;
            },
          }),
        ),
    };
    const quota = textQuota({
      db: explain,
      log: silentLog(),
      metrics: new Registry(),
      config: localization.config,
    });
    await quota.forImport({ jobId: 'a job', isDryRun: false }).whenKnown(tenantId, Infinity);

    expect(plans).toEqual([expect.any(String), expect.stringContaining('override_of_long_text')]);
  });
});
