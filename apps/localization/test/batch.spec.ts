import { newId } from '@plinth/kernel/uuid';
import { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { aCaller } from '@plinth/testing/http';
import { startLocalization, type Localization } from './start-localization';

let localization: Localization;
beforeAll(async () => {
  localization = await startLocalization();
});
afterAll(() => localization.close());

const item = (key: string, value = 'text', parts: object = {}) => ({
  resourceName: 'Shop',
  cultureName: 'en',
  key,
  value,
  ...parts,
});
const put = (items: unknown, caller = aCaller()) =>
  localization.as(caller).put('/localization/overrides', { items });

const outcomeOf = ({ isSuccess, error }: { isSuccess: boolean; error: { status: number } | null }) =>
  isSuccess ? 'written' : error!.status;

describe('PUT /localization/overrides', () => {
  it('reports the result of each item, in the order of the request', async () => {
    const caller = aCaller();
    const { status, body } = await put(
      [
        item('one'),
        item('lists.page', 'Seite', { resourceName: 'Platform' }),
        item('', 'no key'),
        item('x', 'y'.repeat(4_001)),
        item('x', 'no such culture', { cultureName: 'fr_CA' }),
        item('two', '', { cultureName: 'FR-ca' }),
      ],
      caller,
    );

    expect(status).toBe(207);
    expect(body).toMatchObject({ successCount: 2, failureCount: 4 });
    expect(body.results.map(({ isSuccess }: { isSuccess: boolean }) => isSuccess)).toEqual([
      true,
      false,
      false,
      false,
      false,
      true,
    ]);
    expect(body.results[0]).toEqual({ value: item('one'), isSuccess: true, error: null });
    expect(body.results[1]).toMatchObject({
      value: null,
      error: { status: 422, detail: expect.stringContaining('{0}') },
    });
    expect(body.results.slice(2, 5).map(({ error }: { error: { status: number } }) => error.status)).toEqual([
      422, 422, 422,
    ]);
    expect(body.results[5].value.cultureName).toBe('fr-CA');

    const bootstrap = await localization.as(caller).get('/localization?cultureName=fr-CA');
    expect(bootstrap.body.resources.Shop).toEqual({ one: 'text', two: '' });
  });

  it('checks each item in a turn of its own, since reading its text may take milliseconds', async () => {
    const turns = jest.spyOn(EventLoopTurns.prototype, 'take');
    const { body } = await put(Array.from({ length: 20 }, (_, index) => item(`key ${index}`)));
    expect(body.successCount).toBe(20);
    expect(turns.mock.calls.length).toBeGreaterThanOrEqual(20);
    turns.mockRestore();
  });

  it('stores the last of two values for one text', async () => {
    const caller = aCaller();
    const { body } = await put([item('one', 'first'), item('one', 'last')], caller);
    expect(body.successCount).toBe(2);
    expect((await localization.as(caller).get('/localization?cultureName=en')).body.resources.Shop).toEqual({
      one: 'last',
    });
  });

  it('accepts 500 items, and refuses 501 or none', async () => {
    const items = Array.from({ length: 501 }, (_, index) => item(`key ${index}`));
    expect((await put(items.slice(1))).body.successCount).toBe(500);
    const tooMany = await put(items);
    expect([tooMany.status, tooMany.body.errors]).toEqual([
      422,
      { items: ['Service:Validation:MaximumLengthValidator'] },
    ]);
    expect((await put([])).body.errors).toEqual({ items: ['Service:Validation:NotEmptyValidator'] });
  });

  it.each([
    [
      [{ resourceName: 'Shop', cultureName: 'en', key: 'a' }],
      422,
      { 'items[0].value': ['Service:Validation:NotEmptyValidator'] },
    ],
    [
      [item('a'), { ...item('b'), value: null }],
      422,
      { 'items[1].value': ['Service:Validation:NotNullValidator'] },
    ],
    [[{ ...item('a'), value: 1 }], 400, undefined],
    [{}, 400, undefined],
    [undefined, 422, { items: ['Service:Validation:NotEmptyValidator'] }],
  ])('refuses %j as a whole with %i', async (items, status, errors) => {
    const response = await put(items);
    expect([response.status, response.body.errors]).toEqual([status, errors]);
  });

  it('writes nothing over what others wrote since it was read', async () => {
    const caller = aCaller();
    await put([item('read', 'old'), item('changed', 'old'), item('removed', 'old')], caller);
    await put([item('changed', 'theirs'), item('made', 'theirs')], caller);
    const removed = await localization.as(caller).post('/localization/overrides/removals', {
      items: [{ resourceName: 'Shop', cultureName: 'en', key: 'removed' }],
    });
    expect(removed.status).toBe(204);
    const wanted = [
      item('read', 'mine', { formerValue: 'old' }),
      item('changed', 'mine', { formerValue: 'old' }),
      item('removed', 'mine', { formerValue: 'old' }),
      item('made', 'mine', { formerValue: null }),
      item('new', 'mine', { formerValue: null }),
      item('any', 'mine'),
      item('', 'no key', { formerValue: null }),
    ];

    const { status, body } = await put(wanted, caller);
    expect(status).toBe(207);
    expect(
      body.results.map(({ error }: { error: { status: number } | null }) => error?.status ?? 'written'),
    ).toEqual(['written', 409, 409, 409, 'written', 'written', 422]);
    expect(body.results[0].value).toEqual(item('read', 'mine'));
    const bootstrap = await localization.as(caller).get('/localization?cultureName=en');
    expect(bootstrap.body.resources.Shop).toEqual({
      read: 'mine',
      changed: 'theirs',
      made: 'theirs',
      new: 'mine',
      any: 'mine',
    });
  });

  it('takes what it wrote itself for no change by others when it is sent again', async () => {
    const caller = aCaller();
    await put([item('read', 'old')], caller);
    const wanted = [item('read', 'mine', { formerValue: 'old' }), item('new', 'mine', { formerValue: null })];

    for (const { body } of [await put(wanted, caller), await put(wanted, caller)])
      expect([body.successCount, body.failureCount]).toEqual([2, 0]);
  });

  it('answers a retry of what the former version wrote, which recorded no result', async () => {
    const caller = aCaller({ operationId: newId() });
    await localization.db!.inTenant(
      caller.tenantId,
      (tx) =>
        tx.$executeRaw`INSERT INTO executed_operation (tenant_id, operation_id, result)
          VALUES (${caller.tenantId}::uuid, ${caller.operationId}, '{}')`,
    );

    const { status, body } = await put([item('one')], caller);
    expect([status, body.successCount]).toEqual([207, 1]);
  });

  it('stores of a batch only the places of what is stale, and answers a retry with them', async () => {
    const caller = aCaller({ operationId: newId() });
    const ofTenant = { ...caller, operationId: undefined };
    const name = (place: number) => `${place}${'😀'.repeat(240)}`;
    const items = Array.from({ length: 500 }, (_, place) =>
      item(name(place), 'mine', { formerValue: 'old' }),
    );
    items[0] = item('', 'no key', { formerValue: 'old' });
    await put([item(name(3), 'old')], ofTenant);

    for (const { body } of [await put(items, caller), await put(items, caller)]) {
      expect([body.successCount, body.failureCount]).toEqual([1, 499]);
      expect(body.results.slice(0, 5).map(outcomeOf)).toEqual([422, 409, 409, 'written', 409]);
    }
    const [stored] = await localization.db!.inTenant(
      caller.tenantId,
      (tx) =>
        tx.$queryRaw<{ bytes: number }[]>`SELECT length(result::text) AS bytes FROM executed_operation
          WHERE tenant_id = ${caller.tenantId}::uuid AND operation_id = ${caller.operationId}`,
    );
    expect(stored!.bytes).toBeLessThan(4_000);
  });

  it('answers a retry of what the former version wrote, which recorded the names of what is stale', async () => {
    const caller = aCaller({ operationId: newId() });
    const stale = JSON.stringify({ stale: [{ resourceName: 'Shop', cultureName: 'en', key: 'two' }] });
    await localization.db!.inTenant(
      caller.tenantId,
      (tx) =>
        tx.$executeRaw`INSERT INTO executed_operation (tenant_id, operation_id, result)
          VALUES (${caller.tenantId}::uuid, ${caller.operationId}, ${stale}::jsonb)`,
    );

    const { body } = await put([item('one'), item('two', 'mine', { formerValue: 'old' })], caller);
    expect(body.results.map(outcomeOf)).toEqual(['written', 409]);
  });

  it('marks and publishes nothing where nothing changes', async () => {
    const caller = aCaller();
    const marks = () =>
      localization.db!.inTenant(caller.tenantId, (tx) => tx.overrideMark.findMany({ select: { id: true } }));
    const remove = (key: string) =>
      localization.as(caller).post('/localization/overrides/removals', {
        items: [{ resourceName: 'Shop', cultureName: 'en', key }],
      });
    await put([item('one'), item('two')], caller);
    const before = await marks();

    expect((await put([item('one'), item('two')], caller)).body.successCount).toBe(2);
    const guarded = [item('one', 'text', { formerValue: 'old' }), item('two')];
    expect((await put(guarded, caller)).body.successCount).toBe(2);
    expect((await remove('absent')).status).toBe(204);
    expect(await marks()).toEqual(before);

    await remove('two');
    expect(await marks()).not.toEqual(before);
  });

  it('lets one of several write what none of them has seen', async () => {
    const caller = aCaller();
    const writers = Array.from({ length: 8 }, (_, writer) =>
      put([item('first', `of ${writer}`, { formerValue: null })], caller),
    );
    const counts = (await Promise.all(writers)).map(({ body }) => body.successCount);
    expect(counts.toSorted()).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
  });

  it('never deadlocks batches that have the same texts in different orders', async () => {
    const caller = aCaller();
    const items = Array.from({ length: 100 }, (_, index) => item(`key ${index}`));
    const stored = item('key 99');
    await put([stored], caller);
    const guarded = [...items.slice(0, -1), { ...stored, formerValue: stored.value }];
    const responses = await Promise.all(
      [items, items.toReversed(), guarded, items, items.toReversed(), guarded].map((one) => put(one, caller)),
    );
    expect(responses.map(({ status, body }) => [status, body.successCount])).toEqual(
      responses.map(() => [207, 100]),
    );
  });

  it('responds 207 also when every item fails', async () => {
    const { status, body } = await put([item('', '')]);
    expect([status, body.successCount, body.failureCount]).toEqual([207, 0, 1]);
  });
});

describe('POST /localization/overrides/removals', () => {
  it('takes nothing away that others wrote since it was read', async () => {
    const caller = aCaller();
    const remove = (items: [key: string, formerValue?: string | null][]) =>
      localization.as(caller).post('/localization/overrides/removals', {
        items: items.map(([key, formerValue]) => ({
          resourceName: 'Shop',
          cultureName: 'en',
          key,
          formerValue,
        })),
      });
    const texts = async () =>
      (await localization.as(caller).get('/localization?cultureName=en')).body.resources.Shop;
    await put([item('read', 'old'), item('changed', 'theirs'), item('made', 'theirs'), item('any')], caller);
    const overtaken = await remove([
      ['read', 'old'],
      ['changed', 'old'],
      ['absent', 'old'],
      ['made', null],
      ['any'],
    ]);
    expect(overtaken.status).toBe(409);
    expect(overtaken.body).toMatchObject({
      type: expect.stringMatching(/stale-version$/),
      staleItems: [1, 3],
    });
    expect(await texts()).toEqual({ read: 'old', changed: 'theirs', made: 'theirs', any: 'text' });

    expect((await remove([['read', 'old'], ['absent', 'old'], ['never', null], ['any']])).status).toBe(204);
    expect(await texts()).toEqual({ changed: 'theirs', made: 'theirs' });
  });
});
