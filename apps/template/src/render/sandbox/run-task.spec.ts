import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { aRenderTask } from '../../../test/a-render-task';
import { defaultLimits } from '../language/meter';
import type { RenderResult, RenderTask } from './protocol';
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

describe('a document', () => {
  const limits = { ...defaultLimits, milliseconds: 20_000 };
  const repeated = (text: string, count: number) => `{% for _ in range(${count}) %}${text}{% endfor %}`;
  const quotes = (count: number) => repeated('"'.repeat(1_000), count / 1_000);
  const run = (source: string, mimeType: string, format: RenderTask['format']) =>
    runTask(aRenderTask(source, { mimeType, format, limits }));

  it.each<[string, RenderTask['format'], string, string]>([
    ['a text that escaping makes longer, as PDF', 'pdf', 'text/plain', quotes(2_000_000)],
    ['a text that escaping makes longer, as HTML', 'html', 'text/plain', quotes(2_000_000)],
    [
      'control characters, of which JSON makes six',
      'pdf',
      'text/html',
      repeated('\x01'.repeat(1_000), 6_000),
    ],
    [
      'characters of three bytes, sent as HTML and as text',
      'html',
      'text/plain',
      repeated('語'.repeat(1_000), 6_000),
    ],
    ['a value that escaping makes longer', 'pdf', 'text/html', `{{ '"'.repeat(2000000) }}`],
    ['a long header', 'pdf', 'text/html', '{# header: {{ "\u00a0".repeat(2000000) }} #}x'],
  ])('that leaves the sandbox is bounded: %s', async (_, format, mimeType, source) => {
    expect(await run(source, mimeType, format)).toMatchObject({ kind: 'exhausted' });
  });

  it('of as many characters as are allowed leaves it, as what its format needs', async () => {
    const text = quotes(1_600_000);
    const page = await run(`{# header: a #}${text}`, 'text/plain', 'pdf');
    expect(page).toMatchObject({ kind: 'rendered', html: '', plainText: '', front: { header: 'a' } });
    expect((page as RenderResult).page!.length).toBeGreaterThan(9_600_000);
    const html = await run(`{# header: a #}${text}`, 'text/plain', 'html');
    expect(html).toMatchObject({ kind: 'rendered', plainText: expect.any(String) });
    expect(html).not.toHaveProperty('page');
    expect((html as RenderResult).front).toEqual({});
    expect((html as RenderResult).html).toHaveLength(9_600_000);
  });

  it('whose header has elements too deep inside each other is refused', async () => {
    const header = `{# header: ${'<b>'.repeat(60_000)} #}x`;
    expect(await run(header, 'text/html', 'pdf')).toMatchObject({ kind: 'exhausted' });
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
