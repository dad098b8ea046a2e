import fc from 'fast-check';
import { BoundedMap } from './bounded-map';

describe('BoundedMap', () => {
  it('drops what was set longest ago where another entry would be too many', () => {
    const map = new BoundedMap<string, number>(2);

    map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);

    expect([...map]).toEqual([
      ['a', 3],
      ['c', 4],
    ]);
  });

  it('has room again where it was full, and keeps what was set last', () => {
    const map = new BoundedMap<number, number>(100);
    for (let key = 0; key < 1_000; key++) {
      map.set(key, key);
      expect(map.size).toBeLessThanOrEqual(100);
    }
    expect(map.size).toBeGreaterThan(90);
    expect([...map.keys()]).toEqual(Array.from({ length: map.size }, (_, index) => 1_000 - map.size + index));
  });

  it('has the entries that were set last, after any sets, removals and clearings', () => {
    const key = fc.nat({ max: 12 });
    const steps = fc.array(
      fc.oneof(
        { weight: 12, arbitrary: fc.record({ set: key }) },
        { weight: 4, arbitrary: fc.record({ delete: key }) },
        { weight: 1, arbitrary: fc.constant('clear' as const) },
      ),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), steps, (sizeMax, sequence) => {
        const map = new BoundedMap<number, number>(sizeMax);
        let kept: [number, number][] = [];
        sequence.forEach((step, at) => {
          if (step === 'clear') {
            map.clear();
            kept = [];
          } else if ('delete' in step) {
            map.delete(step.delete);
            kept = kept.filter(([one]) => one !== step.delete);
          } else {
            map.set(step.set, at);
            kept = [...kept.filter(([one]) => one !== step.set), [step.set, at] as [number, number]];
            kept = kept.slice(-sizeMax);
          }
          expect([...map]).toEqual(kept);
        });
      }),
      { numRuns: 300 },
    );
  });
});
