import { newId } from '@plinth/kernel/uuid';
import { awkwardTexts, openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
import { aCaller } from '@plinth/testing/http';
import { grpcServices } from '../src/grpc/server';
import { startLocalization, type Localization } from './start-localization';

const definition = 'Localization.Overrides';
const columns = ['resourceName', 'cultureName', 'key', 'value'];
const start = { definition, columns, mode: 'UPSERT', commit: 'EACH_BATCH' } as const;

describe('Localization.Overrides in imports and exports', () => {
  let localization: Localization;
  let owner: ExchangeOwner;

  beforeAll(async () => {
    localization = await startLocalization();
    owner = await openExchangeOwner(grpcServices(localization));
  });
  afterAll(async () => {
    await owner.close();
    await localization.close();
  });

  const stored = (caller: ReturnType<typeof aCaller>) =>
    owner.exportRows(caller, { definition, fields: columns });

  it('inserts and updates rows, and counts both', async () => {
    const caller = aCaller();
    const first = await owner.importRows(caller, start, [
      [
        [2, 'Shop', 'fr', 'a', 'Un'],
        [3, 'Shop', 'FR-ca', 'a', 'Un!'],
      ],
    ]);
    const second = await owner.importRows(caller, start, [
      [
        [2, 'Shop', 'fr', 'a', '=1+1'],
        [3, 'Shop', 'en', 'a', ''],
      ],
    ]);

    expect(first.results).toMatchObject([{ number: 1, inserted: 2, updated: 0, failed: 0 }]);
    expect(second.results).toMatchObject([{ number: 1, inserted: 1, updated: 1, failed: 0 }]);
    expect(second.committed).toBe(true);
    expect(await stored(caller)).toEqual([
      ['Shop', 'en', 'a', ''],
      ['Shop', 'fr', 'a', '=1+1'],
      ['Shop', 'fr-CA', 'a', 'Un!'],
    ]);
  });

  it('come back from an export as they were, whatever their texts are', async () => {
    const [from, to] = [aCaller(), aCaller()];
    const rows = awkwardTexts.map((text, index) => [index + 2, 'Shop', 'fr', `${index} ${text}`, text]);
    await owner.importRows(from, start, [rows]);

    expect(await owner.copyRows(from, to, start)).toEqual([]);
    const copied = (await stored(to)).map(([, , , text]) => text);
    expect(copied.toSorted()).toEqual(awkwardTexts.toSorted());
    expect(await stored(to)).toEqual(await stored(from));
  });

  it('serves the former texts immediately after an import is undone', async () => {
    const caller = aCaller();
    const http = localization.as(caller);
    const first = await owner.importRows(caller, start, [[[2, 'Shop', 'fr', 'a', 'Un']]]);
    const second = await owner.importRows(caller, start, [[[2, 'Shop', 'fr', 'a', 'Deux']]]);
    const shown = async () => (await http.get('/localization?cultureName=fr')).body.resources.Shop;
    expect(await shown()).toEqual({ a: 'Deux' });

    await owner.undoImport(caller, { definition, jobId: second.jobId });
    expect(await shown()).toEqual({ a: 'Un' });
    await owner.undoImport(caller, { definition, jobId: first.jobId });
    expect(await shown()).toBeUndefined();
  });

  it('serves imported texts immediately', async () => {
    const caller = aCaller();
    const http = localization.as(caller);
    await http.get('/localization?cultureName=fr');
    await owner.importRows(caller, start, [[[2, 'Shop', 'fr', 'a', 'Un']]]);

    const { body } = await http.get('/localization?cultureName=fr');

    expect(body.resources.Shop).toEqual({ a: 'Un' });
  });

  it('reports every error of a row, and imports the other rows', async () => {
    const caller = aCaller();
    const { results } = await owner.importRows(caller, start, [
      [
        [2, 'Shop', 'not a culture', 'k'.repeat(501), 'x'],
        [3, '', 'fr', 'a', 'x\0y'],
        [4, 'Shop', 'fr', 'fine', 'v'],
        [5, 'Shop', 'fr', 'long', 'v'.repeat(4_001)],
      ],
    ]);

    expect(results).toMatchObject([{ inserted: 1, failed: 3 }]);
    const errors = results[0]!.failures.map(({ rowNumber, kind, details }) => [
      rowNumber,
      kind,
      details.map(({ column, code }) => `${column} ${code}`),
    ]);
    expect(errors).toEqual([
      [
        2,
        'Validation',
        ['cultureName Service:Validation:FormatValidator', 'key Service:Validation:MaximumLengthValidator'],
      ],
      [
        3,
        'Validation',
        ['resourceName Service:Validation:NotEmptyValidator', 'value Service:Conversion:Text'],
      ],
      [5, 'Validation', ['value Service:Validation:MaximumLengthValidator']],
    ]);
  });

  it('refuses a text whose placeholders differ from those of the text it replaces', async () => {
    const caller = aCaller();
    const base = Object.entries(localization.base['en']!).flatMap(([resource, texts]) =>
      Object.entries(texts).map(([key, value]) => ({ resource, key, value })),
    );
    const withPlaceholder = base.find(({ value }) => /\{\d\}/.test(value))!;
    const { results } = await owner.importRows(caller, start, [
      [[2, withPlaceholder.resource, 'fr', withPlaceholder.key, 'none']],
    ]);

    expect(results[0]!.failures).toMatchObject([
      {
        rowNumber: 2,
        kind: 'Validation',
        details: [{ column: 'value', code: 'Service:Validation:FormatValidator' }],
      },
    ]);
  });

  it('refuses a duplicate key, also across batches and after a failed row, and names the first row', async () => {
    const caller = aCaller();
    const { results } = await owner.importRows(caller, start, [
      [
        [2, 'Shop', 'fr', 'a', '1'],
        [3, 'Shop', 'fr', 'a', '2'],
        [4, 'Shop', 'fr', 'b', 'v'.repeat(5_000)],
      ],
      [
        [5, 'Shop', 'fr', 'a', '3'],
        [6, 'Shop', 'fr', 'b', '4'],
        [7, 'Shop', 'FR', 'c', '5'],
      ],
    ]);

    expect(results).toMatchObject([
      { inserted: 1, failed: 2 },
      { inserted: 1, updated: 0, failed: 2 },
    ]);
    const errors = results.flatMap(({ failures }) =>
      failures
        .filter(({ kind }) => kind === 'Identity')
        .map(({ rowNumber, details }) => [rowNumber, details[0]!.message]),
    );
    expect(errors).toEqual([
      [3, 'Row 2 of this file has the same Resource, Culture, Key as row 3.'],
      [5, 'Row 2 of this file has the same Resource, Culture, Key as row 5.'],
      [6, 'Row 4 of this file has the same Resource, Culture, Key as row 6.'],
    ]);
    expect(await stored(caller)).toHaveLength(2);
  });

  it.each([
    ['UPSERT', [[0], [1], [2]]],
    ['UPSERT', [[0, 1], [2]]],
    ['UPSERT', [[0], [1, 2]]],
    ['UPSERT', [[0, 1, 2]]],
    ['UPDATE', [[0], [1], [2]]],
    ['UPDATE', [[0, 1], [2]]],
    ['UPDATE', [[0], [1, 2]]],
    ['UPDATE', [[0, 1, 2]]],
  ] as const)(
    'names the first row of a duplicate key in the mode %s, imported or not: %j',
    async (mode, cut) => {
      const fates = ['ok', 'v'.repeat(5_000)].flatMap((first) => [
        [first, 'ok'],
        [first, 'v'.repeat(5_000)],
      ]);
      const turn = (number: number) =>
        fates.map((fate, key) => [number * 4 + key + 2, 'Shop', 'fr', `k${key}`, fate[number] ?? 'ok']);
      const batches = cut.map((turns) => turns.flatMap(turn));

      const { results } = await owner.importRows(aCaller(), { ...start, mode }, batches);

      const last = results.at(-1)!.failures.filter(({ rowNumber }) => rowNumber >= 10);
      expect(last.map(({ details }) => details[0]!.message)).toEqual(
        [2, 3, 4, 5].map(
          (row) => `Row ${row} of this file has the same Resource, Culture, Key as row ${row + 8}.`,
        ),
      );
    },
  );

  it('returns the first result for a batch that is sent again, and changes nothing', async () => {
    const caller = aCaller();
    const batches = [
      [
        [2, 'Shop', 'fr', 'a', '1'],
        [3, 'Shop', 'fr', 'a', '2'],
      ],
      [[4, 'Shop', 'fr', 'b', '1']],
    ];
    const first = await owner.importRows(caller, start, batches, { end: false });
    const again = await owner.importRows(caller, { ...start, jobId: first.jobId }, [
      ...batches,
      [[5, 'Shop', 'fr', 'c', '1']],
    ]);

    expect(again.lastBatch).toBe(2);
    expect(again.results.slice(0, 2)).toEqual(first.results);
    expect(again.results[2]).toMatchObject({ inserted: 1 });
    expect(await stored(caller)).toHaveLength(3);
  });

  it('returns the first result of a batch that the version before applied', async () => {
    const caller = aCaller();
    const batches = [
      [
        [2, 'Shop', 'fr', 'a', '1'],
        [3, 'Shop', 'fr', 'a', '2'],
      ],
    ];
    const first = await owner.importRows(caller, start, batches, { end: false });
    await localization.db!.inTenant(
      caller.tenantId,
      (tx) => tx.$executeRaw`
        UPDATE exchange_batch SET outcome = (outcome #>> '{}')::jsonb WHERE job_id = ${first.jobId}::uuid`,
    );
    const again = await owner.importRows(caller, { ...start, jobId: first.jobId }, batches);

    expect(again.results).toEqual(first.results);
  });

  it('applies a batch once when two workers send it at the same time', async () => {
    const caller = aCaller();
    const jobId = newId();
    const batches = Array.from({ length: 10 }, (_, batch) => [[batch + 2, 'Shop', 'fr', `k${batch}`, 'v']]);
    const both = await Promise.all([1, 2].map(() => owner.importRows(caller, { ...start, jobId }, batches)));

    for (const { results } of both)
      expect(results.map(({ inserted }) => inserted)).toEqual(Array(10).fill(1));
    expect(await stored(caller)).toHaveLength(10);
  });

  it('refuses batches of a sealed job', async () => {
    const caller = aCaller();
    const { jobId } = await owner.importRows(caller, start, [[[2, 'Shop', 'fr', 'a', '1']]], { end: false });
    const { lastBatch } = await owner.call('SealImport', { jobId }, caller);
    const late = await owner.importRows(caller, { ...start, jobId }, [[[3, 'Shop', 'fr', 'b', '1']]], {
      firstBatch: 2,
    });

    expect(lastBatch).toBe(1);
    expect(late.results).toMatchObject([{ number: 2, sealed: true, inserted: 0 }]);
    expect(await stored(caller)).toHaveLength(1);
  });

  it('counts in a dry-run what an execution would do, duplicates included, and stores nothing', async () => {
    const caller = aCaller();
    await owner.importRows(caller, start, [[[2, 'Shop', 'fr', 'known', '1']]]);
    const batches = [
      [
        [2, 'Shop', 'fr', 'known', '2'],
        [3, 'Shop', 'fr', 'new', '1'],
      ],
      [[4, 'Shop', 'fr', 'new', '2']],
    ];
    const dry = await owner.importRows(caller, { ...start, commit: 'NEVER' }, batches);
    const before = await stored(caller);
    const wet = await owner.importRows(caller, start, batches);

    expect(before).toEqual([['Shop', 'fr', 'known', '1']]);
    expect(dry.committed).toBe(false);
    expect(dry.results).toEqual(wet.results);
    expect(wet.results).toMatchObject([{ inserted: 1, updated: 1 }, { failed: 1 }]);
  });

  it('stores nothing of an import in one transaction whose stream ends early', async () => {
    const caller = aCaller();
    const all = { ...start, commit: 'ALL_OR_NOTHING' } as const;
    await owner.importRows(caller, all, [[[2, 'Shop', 'fr', 'a', '1']]], { end: false });
    const { committed } = await owner.importRows(caller, all, [[[2, 'Shop', 'fr', 'b', '1']]]);

    expect(committed).toBe(true);
    expect(await stored(caller)).toEqual([['Shop', 'fr', 'b', '1']]);
  });

  it('skips the rows that the mode excludes', async () => {
    const caller = aCaller();
    await owner.importRows(caller, start, [[[2, 'Shop', 'fr', 'known', '1']]]);
    const rows = [
      [2, 'Shop', 'fr', 'known', '2'],
      [3, 'Shop', 'fr', 'new', '2'],
      [4, 'Shop', 'fr', 'known', '3'],
    ];
    const inserted = await owner.importRows(caller, { ...start, mode: 'INSERT', commit: 'NEVER' }, [rows]);
    const updated = await owner.importRows(caller, { ...start, mode: 'UPDATE', commit: 'NEVER' }, [rows]);

    expect(inserted.results).toMatchObject([{ inserted: 1, updated: 0, skipped: 1, failed: 1 }]);
    expect(updated.results).toMatchObject([{ inserted: 0, updated: 1, skipped: 1, failed: 1 }]);
  });

  it('finds rows by their id, also to give them another key', async () => {
    const caller = aCaller();
    await owner.importRows(caller, start, [
      [
        [2, 'Shop', 'fr', 'a', '1'],
        [3, 'Shop', 'fr', 'b', '1'],
      ],
    ]);
    const exported = (await owner.exportRows(caller, {
      definition,
      fields: columns,
      includeId: true,
    })) as string[][];
    const { results } = await owner.importRows(caller, { ...start, columns: ['id', ...columns] }, [
      [
        [2, exported[0]![0], 'Shop', 'fr', 'renamed', '2'],
        [3, exported[1]![0], 'Shop', 'fr', 'b', '2'],
        [4, newId(), 'Shop', 'fr', 'c', '2'],
        [5, 'seven', 'Shop', 'fr', 'd', '2'],
        [6, '', 'Shop', 'fr', 'e', '2'],
        [7, exported[0]![0], 'Shop', 'fr', 'again', '2'],
      ],
    ]);

    expect(results).toMatchObject([{ inserted: 1, updated: 2, failed: 3 }]);
    expect(results[0]!.failures.map(({ rowNumber, kind }) => [rowNumber, kind])).toEqual([
      [4, 'Identity'],
      [5, 'Identity'],
      [7, 'Identity'],
    ]);
    expect((await stored(caller)).map((row) => row[2])).toEqual(['b', 'e', 'renamed']);
  });

  it('announces both bundles of a text that its id moves to another one, and again when that is undone', async () => {
    const caller = aCaller();
    await owner.importRows(caller, start, [[[2, 'Shop', 'fr', 'a', 'Un']]]);
    const [row] = await owner.exportRows(caller, { definition, fields: columns, includeId: true });
    const announced = async () => {
      const events = await localization.db!.inTenant(caller.tenantId, (tx) =>
        tx.$queryRawUnsafe<{ payload: { bundles: object[] } }[]>(
          `SELECT payload FROM outbox WHERE name = 'localization.override-changed' ORDER BY sequence`,
        ),
      );
      return events.at(-1)!.payload.bundles;
    };
    const both = expect.arrayContaining([
      { resourceName: 'Shop', cultureName: 'fr' },
      { resourceName: 'Shop', cultureName: 'de' },
    ]);

    const { jobId, results } = await owner.importRows(caller, { ...start, columns: ['id', ...columns] }, [
      [[2, row![0], 'Shop', 'de', 'a', 'Eins']],
    ]);

    expect(results).toMatchObject([{ updated: 1, failed: 0 }]);
    expect(await announced()).toEqual(both);
    expect(await owner.undoImport(caller, { definition, jobId })).toMatchObject([{ restored: 1 }]);
    expect(await announced()).toEqual(both);
    expect(await stored(caller)).toEqual([['Shop', 'fr', 'a', 'Un']]);
  });

  it('exports the selected rows, in the requested order', async () => {
    const caller = aCaller();
    await owner.importRows(caller, start, [
      [
        [2, 'Shop', 'fr', 'a', 'Crème'],
        [3, 'Shop', 'fr', 'b', '100 %'],
        [4, 'Shop', 'de', 'c', 'crème'],
        [5, 'Office', 'fr', 'd', '100 x'],
      ],
    ]);
    const keys = async (selection: object) =>
      (await owner.exportRows(caller, { definition, fields: ['key'], selection })).map(([key]) => key);

    await expect(owner.exportRows(caller, { definition, fields: ['key', 'key'] })).rejects.toMatchObject({
      kind: 'invalid',
    });
    expect(await keys({ sort: '-key' })).toEqual(['d', 'c', 'b', 'a']);
    expect(await keys({ filter: { 'cultureName.eq': 'fr', 'resourceName.in': 'Shop,Other' } })).toEqual([
      'a',
      'b',
    ]);
    expect(await keys({ search: 'CRÈME' })).toEqual(['c', 'a']);
    expect(await keys({ filter: { 'value.contains': '0 %' } })).toEqual(['b']);
    await expect(keys({ sort: 'secret' })).rejects.toMatchObject({ kind: 'malformed' });
    await expect(keys({ filter: { 'nothing.eq': 'x' } })).rejects.toMatchObject({ kind: 'malformed' });
  });

  it('exports and imports rows of the own tenant only, and only with the permission', async () => {
    const caller = aCaller();
    await owner.importRows(caller, start, [[[2, 'Shop', 'fr', 'a', '1']]]);
    const stranger = aCaller();
    const clerk = aCaller({ tenantId: caller.tenantId, permissions: ['DataExchange.Imports.Execute'] });

    expect(await stored(stranger)).toEqual([]);
    await expect(stored(clerk)).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(owner.importRows(clerk, start, [])).rejects.toMatchObject({ kind: 'forbidden' });
  });
});
