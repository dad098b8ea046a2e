import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { aRenderTask } from '../../../test/a-render-task';
import { defaultLimits } from '../language/meter';
import { runTask } from './run-task';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const memoryUsed = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

describe('parsed templates', () => {
  it('are kept as long as they leave memory for the tasks of other tenants', async () => {
    const before = memoryUsed();
    for (let number = 0; number < 120; number++)
      await runTask({ kind: 'analyze', source: `${number}${'{{a}}'.repeat(4_000)}`, partials: {} });
    expect(memoryUsed() - before).toBeLessThan(60_000_000);
  });

  it('are kept so also where most of one is the parameters of a macro', async () => {
    const parameters = Array(50_000).fill('a').join(',');
    const before = memoryUsed();
    for (let number = 0; number < 40; number++)
      await runTask({
        kind: 'analyze',
        source: `{% macro m${number}(${parameters}) %}{% endmacro %}`,
        partials: {},
      });
    expect(memoryUsed() - before).toBeLessThan(60_000_000);
  });
});

describe('a filter of markup', () => {
  it('looks for tags that it cut in one pass, however many there are', async () => {
    const source = `{% set x %}${'<a'.repeat(300_000)}>{% endset %}{{ x | upper | length }}`;
    const limits = { ...defaultLimits, milliseconds: 20_000 };
    const result = await runTask(aRenderTask(source, { limits }));
    expect(result).toMatchObject({ kind: 'rendered', html: '600001' });
  });
});
