import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import type { DefinitionRow } from './definition-versions';
import { KnownDefinitions } from './known-definitions';

const row = (entityType: string, version: number, body: unknown, tenantId = 'tenant'): DefinitionRow => ({
  tenantId,
  entityType,
  version,
  body,
  savedAt: new Date(0),
  savedBy: 'ada',
});
const remember = (known: KnownDefinitions, one: DefinitionRow) =>
  known.remember(one.tenantId, one.entityType, one);

describe('known definitions', () => {
  it('are those of an owner and a type, the version that was read last', () => {
    const known = new KnownDefinitions();
    expect(known.recall('tenant', 'Order')).toBeUndefined();
    remember(known, row('Order', 3, { states: ['a'] }));
    expect(known.recall('tenant', 'Order')).toMatchObject({ version: 3, body: { states: ['a'] } });
    expect(known.recall('other', 'Order')).toBeUndefined();
    remember(known, row('Order', 4, null));
    expect(known.recall('tenant', 'Order')).toMatchObject({ version: 4, body: null });
  });

  it('are all that a type depends on only where both owners were read, of whom one may have none', () => {
    const known = new KnownDefinitions();
    const platform = row('Order', 2, {}, HOST_TENANT_ID);
    known.remember('tenant', 'Order', undefined);
    expect(known.recallNewest('tenant', 'Order')).toBeUndefined();
    remember(known, platform);
    expect(known.recallNewest('tenant', 'Order')).toMatchObject({ own: undefined, platform });
    expect(known.recallNewest('other', 'Order')).toBeUndefined();
    const own = row('Order', 1, {});
    remember(known, own);
    expect(known.recallNewest('tenant', 'Order')).toMatchObject({ own, platform });
    expect(known.recallNewest(HOST_TENANT_ID, 'Order')).toMatchObject({ own: undefined, platform });
  });

  it('are forgotten by when they were read, where all together are too long', () => {
    // A key has 8 characters, a body 11.
    const known = new KnownDefinitions(41);
    const versions = () => ['A', 'B', 'C', 'D'].map((type) => known.recall('tenant', type)?.version);
    const body = { a: '123' };
    for (const entityType of ['A', 'B', 'A', 'C']) remember(known, row(entityType, 1, body));
    expect(versions()).toEqual([1, undefined, 1, undefined]);
    remember(known, row('D', 1, 'x'.repeat(40)));
    expect(versions()).toEqual([undefined, undefined, undefined, undefined]);
    remember(known, row('A', 2, body));
    expect(versions()).toEqual([2, undefined, undefined, undefined]);
  });

  it('are measured by the body that they have, also where another one had the same version', () => {
    const known = new KnownDefinitions(41);
    const first = row('A', 1, 'x');
    remember(known, first);
    remember(known, { ...first, body: 'x'.repeat(40), savedAt: new Date(1) });
    expect(known.recall('tenant', 'A')).toBeUndefined();
  });

  it('count that there is none, too', () => {
    const known = new KnownDefinitions(41);
    remember(known, row('A', 1, {}));
    for (let number = 0; number < 10; number++) known.remember('tenant', `${number}`, undefined);
    expect(known.recall('tenant', 'A')).toBeUndefined();
  });
});
