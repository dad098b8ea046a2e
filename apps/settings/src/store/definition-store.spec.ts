import { forRequest, currentWork } from '@plinth/runtime/process/current-work';
import { definitionStore } from './definition-store';

describe('the definitions of settings', () => {
  it('are read for all who wait, not for the request that came first', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const inTenant = async () => {
      signals.push(currentWork().signal);
      return [];
    };
    const definitions = definitionStore({ db: { inTenant } } as never);
    await forRequest(new AbortController().signal, () => definitions.all());
    expect(signals).toEqual([undefined]);
  });
});
