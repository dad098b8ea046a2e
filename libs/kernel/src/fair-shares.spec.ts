import fc from 'fast-check';
import { FairShares, type ShareOwner } from './fair-shares';

const takeAll = (shares: FairShares, owner: ShareOwner): number => {
  let taken = 0;
  while (shares.take(owner) === undefined) taken++;
  return taken;
};

describe('fair shares', () => {
  it('give a tenant half of everything, and a user a third', () => {
    const shares = new FairShares(1_000);
    expect(takeAll(shares, { tenantId: 'acme', userId: 'ada' })).toBe(333);
    expect(shares.take({ tenantId: 'acme', userId: 'ada' })).toBe('user');
    for (let user = 0; user < 1_000; user++) takeAll(shares, { tenantId: 'acme', userId: `user-${user}` });
    expect(shares.usedByTenant('acme')).toBe(500);
    expect(shares.take({ tenantId: 'acme', userId: 'grace' })).toBe('tenant');
  });

  it('give a tenant more than half where it may hold many times what is free, and still leave some to two more', () => {
    const shares = new FairShares(12, { limitsUsers: false, timesFree: 2 });
    const taken = ['acme', 'globex', 'initech', 'umbrella'].map((tenantId) =>
      takeAll(shares, { tenantId, userId: 'ada' }),
    );
    expect(taken).toEqual([8, 3, 1, 0]);
  });

  it('leave something to each next tenant, until nothing is left at all', () => {
    const shares = new FairShares(1_000);
    for (let tenant = 0; shares.usedAmount < 1_000; tenant++) {
      for (let user = 0; user < 20; user++) takeAll(shares, { tenantId: `t-${tenant}`, userId: `u-${user}` });
      expect(shares.usedByTenant(`t-${tenant}`)).toBeGreaterThan(0);
    }
    expect(shares.take({ tenantId: 'one more', userId: 'ada' })).toBe('all');
  });

  it('count exactly, whatever is taken and given back', () => {
    const owners = fc.record({ tenantId: fc.constantFrom('a', 'b', 'c'), userId: fc.constantFrom('x', 'y') });
    const step = fc.record({ owner: owners, amount: fc.integer({ min: 1, max: 30 }), gives: fc.boolean() });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.array(step), (total, steps) => {
        const shares = new FairShares(total);
        const held: { owner: ShareOwner; amount: number }[] = [];
        for (const { owner, amount, gives } of steps) {
          const before = total - shares.usedAmount;
          const isNew = shares.usedByTenant(owner.tenantId) === 0;
          if (gives && held.length > 0) {
            const [first] = held.splice(0, 1);
            shares.give(first!.owner, first!.amount);
          } else if (shares.take(owner, amount) === undefined) held.push({ owner, amount });
          else expect(isNew && amount <= before).toBe(false);
          expect(shares.usedAmount).toBe(held.reduce((sum, taken) => sum + taken.amount, 0));
          expect(shares.usedAmount).toBeLessThanOrEqual(total);
        }
        for (const { owner, amount } of held) shares.give(owner, amount);
        expect(
          shares.usedAmount + shares.usedByTenant('a') + shares.usedByTenant('b') + shares.usedByTenant('c'),
        ).toBe(0);
      }),
    );
  });
});
