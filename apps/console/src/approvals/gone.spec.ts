import { afterDecision, afterReading, type Waited } from './gone';

const [one, two, three] = [{ id: 'one' }, { id: 'two' }, { id: 'three' }];
const none: Waited<{ id: string }> = { waiting: [], gone: [], decided: new Set() };

describe('a request that waits no longer', () => {
  it('is gone where others decided it', () => {
    const waited = afterReading(afterReading(none, [one, two]), [two, three]);
    expect(waited.gone).toEqual([one]);
    expect(afterReading(waited, [two]).gone).toEqual([one, three]);
  });

  it('is not where this person did, also where the list is read before the decision has its response', () => {
    const waited = afterReading(none, [one, two]);
    expect(afterReading(afterDecision(waited, 'one'), [two]).gone).toEqual([]);
    expect(afterDecision(afterReading(waited, [two]), 'one').gone).toEqual([]);
  });
});
