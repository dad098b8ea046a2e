import { KnownDefinitions } from './known-definitions';

const row = (entityType: string, version: number, body: unknown) => ({
  tenantId: 'tenant',
  entityType,
  version,
  body,
  savedAt: new Date(0),
  savedBy: 'ada',
});

describe('known definitions', () => {
  it('are those of an owner and a type, the version that was read last', () => {
    const known = new KnownDefinitions();
    expect(known.recall('tenant', 'Order')).toBeUndefined();
    known.remember(row('Order', 3, { states: ['a'] }));
    expect(known.recall('tenant', 'Order')).toMatchObject({ version: 3, body: { states: ['a'] } });
    expect(known.recall('other', 'Order')).toBeUndefined();
    known.remember(row('Order', 4, null));
    expect(known.recall('tenant', 'Order')).toMatchObject({ version: 4, body: null });
  });

  it('are forgotten by when they were used, where all together are too long', () => {
    const known = new KnownDefinitions(25);
    const versions = () => ['A', 'B', 'C', 'D'].map((type) => known.recall('tenant', type)?.version);
    const body = { a: '123' };
    for (const entityType of ['A', 'B', 'A', 'C']) known.remember(row(entityType, 1, body));
    expect(versions()).toEqual([1, undefined, 1, undefined]);
    known.remember(row('D', 1, 'x'.repeat(30)));
    expect(versions()).toEqual([undefined, undefined, undefined, undefined]);
    known.remember(row('A', 2, body));
    expect(versions()).toEqual([2, undefined, undefined, undefined]);
  });
});
