import { constants, getPriority } from 'node:os';
import { silentLog } from '@plinth/runtime/process/log';
import { bundledProgram } from '@plinth/testing/bundled-program';
import { defaultLimits } from '../src/render/language/meter';
import { sandboxPool, type SandboxPool } from '../src/render/sandbox-pool';
import type { RenderTask } from '../src/render/sandbox/protocol';
import { aRenderTask } from './a-render-task';

const aPool = (options: { processes: number; millisecondsMax: number }): SandboxPool => {
  const bounds = { queueMax: 100, memoryMegabytesMax: 192 };
  return sandboxPool(
    { program: bundledProgram('apps/template/src/sandbox.ts'), ...bounds, ...options },
    silentLog(),
  );
};

/** Time enough also on a machine that does much else, so that it is not the time that ends a rendering. */
const milliseconds = 60_000;
const limits = { ...defaultLimits, milliseconds };

let pool: SandboxPool;
beforeAll(() => {
  pool = aPool({ processes: 2, millisecondsMax: milliseconds });
});
afterAll(() => pool.close());

const render = (
  source: string,
  more: Partial<RenderTask> = {},
  by: SandboxPool = pool,
  tenantId = 'tenant',
) => by.run({ tenantId, userId: 'ada' }, aRenderTask(source, { limits, ...more }));

describe('the plain text of a rendered page', () => {
  it.each([
    ['<p>One</p><p>Two<br>lines</p>', 'One\n\nTwo\nlines'],
    ['<h1> A   title </h1>\n\n<p>and <b>bold</b> words</p>', 'A title\n\nand bold words'],
    ['<ul><li>one</li><li>two</li></ul>', '- one\n- two'],
    [
      '<a href="https://x.org/a">here</a> <a href="mailto:a@x.org">a@x.org</a>',
      'here (https://x.org/a) a@x.org',
    ],
    ['<style>p</style><script>x()</script><title>t</title>seen', 'seen'],
    ['<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>', 'a\tb\nc\td'],
    ['<pre>a\n  b</pre>', 'a\n  b'],
    ['<img alt="Logo" src="data:,"> &amp; &lt;b&gt;', 'Logo & <b>'],
  ])('is written for %s', async (html, text) => {
    expect(await render(html)).toMatchObject({ kind: 'rendered', plainText: text });
  });
});

describe('a rendered workbook', () => {
  const workbook = async (html: string) => {
    const { default: excel } = await import('exceljs');
    const response = await render(html, { format: 'excel' });
    if (response.kind !== 'rendered') throw new Error(JSON.stringify(response));
    const read = new excel.Workbook();
    await read.xlsx.load(Buffer.from(response.workbook!) as unknown as ArrayBuffer);
    return read;
  };

  it('has one sheet of lines where there is no table', async () => {
    const { worksheets } = await workbook('<p>One</p><p>Two</p>');

    expect(worksheets).toHaveLength(1);
    expect(worksheets[0]!.getColumn(1).values).toEqual(expect.arrayContaining(['One', 'Two']));
  });

  it('has sheets with names that Excel accepts', async () => {
    const names = ['a/b:c', 'x'.repeat(40), 'x'.repeat(40), 'History', "'q'"];

    const { worksheets } = await workbook(
      names.map((name) => `<table data-sheet="${name}"><tr><td>1</td></tr></table>`).join(''),
    );

    expect(worksheets.map(({ name }) => name)).toEqual([
      'a b c',
      'x'.repeat(31),
      `${'x'.repeat(27)} (2)`,
      'Sheet4',
      'q',
    ]);
  });

  it('merges cells that span, and writes text that does not match its data type', async () => {
    const { worksheets } = await workbook(
      '<table><tr><th colspan="2">Head</th></tr><tr><td rowspan="2">left</td><td data-type="number">12 apples</td></tr><tr><td data-type="number">-5</td></tr></table>',
    );

    const [sheet] = worksheets;
    expect(sheet!.getCell('A1').font.bold).toBe(true);
    expect(sheet!.getCell('B1').master.address).toBe('A1');
    expect(sheet!.getCell('A3').master.address).toBe('A2');
    expect([sheet!.getCell('B2').value, sheet!.getCell('B3').value]).toEqual(['12 apples', -5]);
  });
});

describe('the sandbox pool', () => {
  it('compares texts that have nothing in common within the limits of a service', async () => {
    const limited = aPool({ processes: 1, millisecondsMax: 700 });
    const textOf = (name: string) =>
      Array.from({ length: 2_000 }, (_, number) => `${name}${number}`).join('\n');
    const [from, to] = ['one', 'two'].map((name) => ({ name, text: textOf(name) }));
    const result = await limited.run(
      { tenantId: 'tenant', userId: 'ada' },
      { kind: 'diff', from: from!, to: to! },
    );
    limited.close();
    expect(result).toMatchObject({ kind: 'diff', unified: expect.stringContaining('+two1999') });
  });

  it('continues when one of its processes is killed during a task', async () => {
    const [victim] = pool.pids();
    const busy = Promise.all([
      render('{% for i in range(9000) %}{{ i }}{% endfor %}'),
      render('{% for i in range(9000) %}{{ i }}{% endfor %}'),
    ]);
    process.kill(victim!, 'SIGKILL');

    const responses = await busy;

    expect(responses.map(({ kind }) => kind)).toContain('rendered');
    expect(await render('still here')).toMatchObject({ kind: 'rendered', html: 'still here' });
  });
});

describe('a process that cannot be started', () => {
  let starting: SandboxPool;
  afterAll(() => starting.close());

  it('is started again', async () => {
    const { execPath } = process;
    process.execPath = '/no/such/program';
    starting = aPool({ processes: 2, millisecondsMax: milliseconds });
    process.execPath = execPath;
    expect(await render('{{ 1 + 1 }}', {}, starting)).toMatchObject({ kind: 'rendered', html: '2' });
  });
});

describe('a process whose task takes long', () => {
  const slow = '{% for i in range(400) %}{% for j in range(1000) %}{{ i * j }}{% endfor %}{% endfor %}';
  let shared: SandboxPool;
  beforeAll(async () => {
    shared = aPool({ processes: 2, millisecondsMax: milliseconds });
    await shared.ready();
  });
  afterAll(() => shared.close());

  const by = (tenantId: string, source: string) =>
    render(source, { limits: { ...limits, steps: 1e9 } }, shared, tenantId);
  const slowOnes = () =>
    shared.pids().filter((pid) => getPriority(pid) === constants.priority.PRIORITY_BELOW_NORMAL);

  it('goes on with the tasks of its tenant, with a lower priority, and with none of another tenant', async () => {
    const before = shared.pids();

    // A tenant alone has one of two places, so that the second one waits for the first.
    const results = await Promise.all([by('a', slow), by('a', slow)]);

    expect(results.map(({ kind }) => kind)).toEqual(['rendered', 'rendered']);
    expect(shared.pids()).toEqual(before);
    const [slowed, ...others] = slowOnes();
    expect(before).toContain(slowed);
    expect(others).toEqual([]);

    // One of them has the other process for longer than it takes to replace this one.
    await Promise.all([by('b', slow), by('c', 'Hello')]);

    expect(shared.pids()).not.toContain(slowed);
  });
});

describe('what a rendering results in', () => {
  it.each([
    ['control characters', '{{ "\u0002".repeat(3000000) }}'],
    ['halves of characters', '{{ "\u{1f600}".charAt(0).repeat(3000000) }}'],
  ])('is no larger than a response may be: %s', async (_case, source) => {
    expect(await render(source, { mimeType: 'text/plain' })).toMatchObject({
      kind: 'exhausted',
      message: 'The output is larger than is allowed.',
    });
    expect(await render('{{ "x".repeat(9000000) }}', { mimeType: 'text/plain' })).toMatchObject({
      kind: 'rendered',
    });
  });
});

describe('what is said of a template', () => {
  it.each([
    '{{ 0 | date("short", zone="x".repeat(9000000)) }}',
    '{{ 5 | currency("x".repeat(9000000)) }}',
    '{{ [1] | select("x".repeat(9000000)) }}',
  ])('is no longer than a message: %s', async (source) => {
    const result = await render(source);
    if (result.kind !== 'failed') throw new Error(JSON.stringify(result).slice(0, 200));
    expect(result.errors[0]!.message.length).toBeLessThanOrEqual(1_000);
  });

  it('is refused where short names of it stand for very much', async () => {
    const path = Array.from({ length: 200 }, () => 'a'.repeat(20)).join('.');
    const uses = Array.from({ length: 1_000 }, (_, index) => `{{ p.x${index} }}`).join('');
    const analyze = (source: string) =>
      pool.run({ tenantId: 'tenant', userId: 'ada' }, { kind: 'analyze', source, partials: {} });
    for (const root of ['order', 'settings'])
      expect(await analyze(`{% set p = ${root}.${path} %}${uses}`)).toMatchObject({ kind: 'exhausted' });
    expect(await analyze(`{{ order.${path} }}`)).toMatchObject({ kind: 'analyzed', errors: [] });
  });
});

describe('what the leading comments say', () => {
  it.each(['file', 'page', 'margin'])('is cut where other processes read it: %s', async (key) => {
    for (const format of ['pdf', 'excel'] as const) {
      const result = await render(`{# ${key}: {{ "/".repeat(3000000) }} #}x`, { format });
      expect(result).toMatchObject({ kind: 'rendered', front: { [key]: '/'.repeat(255) } });
    }
  });
});

describe('the names that a rendering depends on', () => {
  const asked = async (source: string, more?: Partial<RenderTask>) => {
    const result = await render(source, more);
    return result.kind === 'dependencies' ? result.dependencies : result;
  };

  it('are asked for once each, however often the template says them', async () => {
    expect(await asked('{% for i in range(1000) %}{{ t("Shop:" ~ (i % 2)) }}{% endfor %}')).toEqual({
      partials: [],
      texts: ['Shop:0', 'Shop:1'],
      settings: [],
    });
  });

  it.each([
    ['made while it runs', '{% for i in range(100000) %}{{ t("Shop:" ~ i) }}{% endfor %}'],
    ['of one long text', '{{ t("Shop:" ~ "x".repeat(300000)) }}'],
    ['of one long template', '{% include "x".repeat(300000) ignore missing %}'],
    ['written down', Array.from({ length: 40_000 }, (_, index) => `{{ t("S:${index}") }}`).join('')],
  ])('are bounded: those %s', async (_case, source) => {
    expect(await asked(source)).toMatchObject({
      kind: 'exhausted',
      message: 'The template names more texts, settings and templates than is allowed.',
    });
  });

  it('are bounded over all evaluations of the template', async () => {
    const texts = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`Shop:${index}`, null]));
    const source = '{% for i in range(30000) %}{{ t("Shop:" ~ i) }}{% endfor %}';
    expect(await asked(source, { texts })).toMatchObject({ kind: 'exhausted' });
  });
});
