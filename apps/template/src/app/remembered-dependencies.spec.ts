import { RememberedDependencies } from './remembered-dependencies';

const texts = (...names: string[]) => ({ partials: [], texts: names, settings: [] });

describe('what revisions depended on', () => {
  it('is known until it is something else', () => {
    const remembered = new RememberedDependencies();
    remembered.remember('one', texts('Shop:title'));
    expect(remembered.of('one')).toEqual(texts('Shop:title'));
    remembered.remember('one', texts());
    expect(remembered.of('one')).toBeUndefined();
  });

  it('is what the last two renderings had in common', () => {
    const remembered = new RememberedDependencies();
    remembered.remember('one', texts('Shop:title', 'Shop:chosen-by-ada'));
    remembered.remember('one', texts('Shop:title', 'Shop:chosen-by-bob'));
    expect(remembered.of('one')).toEqual(texts('Shop:title'));
  });

  it('learns what it begins to depend on', () => {
    const remembered = new RememberedDependencies();
    remembered.remember('one', texts('Shop:title'));
    remembered.remember('one', texts('Shop:title', 'Shop:new'));
    remembered.remember('one', texts('Shop:title', 'Shop:new'));
    expect(remembered.of('one')).toEqual(texts('Shop:title', 'Shop:new'));
  });

  it('is forgotten where one revision depends on very much', () => {
    const remembered = new RememberedDependencies();
    remembered.remember('one', texts('Shop:title'));
    remembered.remember('one', texts('x'.repeat(100_000)));
    expect(remembered.of('one')).toBeUndefined();
  });

  it('is forgotten where all revisions together depend on too much', () => {
    const remembered = new RememberedDependencies();
    const long = texts('x'.repeat(40_000));
    for (let id = 0; id < 1_000; id++) remembered.remember(String(id), long);
    const kept = Array.from({ length: 1_000 }, (_, id) => remembered.of(String(id))).filter(Boolean);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThanOrEqual(100);
  });
});
