import { DocumentFormat } from '@plinth/contracts/template/shapes';
import { ByteBudget } from '@plinth/runtime/process/byte-budget';
import type { RenderResult, RenderTask, Task, TaskResult } from '../render/sandbox/protocol';
import { templateRenderer, type RenderRequest } from './renderer';

const MEBIBYTE = 1024 * 1024;
const BYTES_MAX = 6 * MEBIBYTE;
const LARGE_TEXT = 'x'.repeat(MEBIBYTE);
const PARTIALS = ['header', 'body', 'footer'];

const rendered: RenderResult = {
  kind: 'rendered',
  html: '',
  plainText: '',
  front: {},
  missing: [],
  used: { partials: [], texts: [], settings: [] },
  jsonBytes: 0,
};
const dependencies: TaskResult = {
  kind: 'dependencies',
  dependencies: { partials: PARTIALS, texts: [], settings: [] },
};

const withTexts: TaskResult = {
  kind: 'dependencies',
  dependencies: { partials: PARTIALS, texts: ['title'], settings: [] },
};

/** A renderer whose evaluations, and whose footers, last until they are told to end; it has no texts. */
function start() {
  const running: (() => void)[] = [];
  const untilEnded = () => new Promise<void>((resolve) => running.push(resolve));
  const bytes = new ByteBudget(BYTES_MAX);
  const parts = {
    templates: {
      findNearest: async (_tenantId: string, name: string) => {
        if (name === 'footer') await untilEnded();
        return { revision: { content: LARGE_TEXT } };
      },
    },
    sandbox: {
      run: async (_owner: unknown, task: Task) => {
        if (task.kind === 'render' && task.source === 'includes' && !('header' in task.partials))
          return dependencies;
        if (task.kind === 'render' && task.source === 'translates') return withTexts;
        await untilEnded();
        return rendered;
      },
    },
    localization: { texts: () => Promise.reject(new Error('away')) },
    settings: { visibleTo: async () => ({}) },
    clock: { now: () => new Date() },
    bytes,
  };
  const renderer = templateRenderer(parts as unknown as Parameters<typeof templateRenderer>[0]);
  const render = (source: string, data: Record<string, unknown> = {}) =>
    renderer.render({
      caller: { tenantId: 'acme', userId: 'ada', userName: 'Ada', permissions: [] },
      template: {
        key: { name: 'a', culture: undefined },
        revision: { id: '', content: source, mimeType: 'text/html' },
      },
      revisionChoice: 'newest',
      culture: undefined,
      format: DocumentFormat.Html,
      data,
    } satisfies RenderRequest);
  const endAll = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) {
      await new Promise(setImmediate);
      running.splice(0).forEach((end) => end());
    }
  };
  return { render, bytes, endAll };
}

describe('the renderer', () => {
  it('refuses what has no room beside that which waits, and has room again afterwards', async () => {
    const { render, endAll } = start();
    const data = { text: 'x'.repeat(BYTES_MAX / 3) };
    const sent = Promise.allSettled([render('one', data), render('two', data), render('three', data)]);
    await endAll();
    const settled = await sent;
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(settled[1]).toMatchObject({ reason: { slug: 'share-used-up' } });
    const again = render('one', data);
    await endAll();
    expect((await again).missing).toEqual([]);
  });

  it('counts what templates include from when it is there, also while others are loaded', async () => {
    const { render, bytes, endAll } = start();
    const first = render('includes');
    await new Promise(setImmediate);
    expect(bytes.usedBytes).toBeGreaterThan(2 * MEBIBYTE);
    const others = Promise.allSettled(Array.from({ length: 20 }, () => render('includes')));
    await endAll();
    expect((await first).missing).toEqual([]);
    for (const one of await others) expect(one).toMatchObject({ reason: { slug: 'share-used-up' } });
    expect(bytes.usedBytes).toBe(0);
  });

  it('counts nothing that is there only once the rendering has failed', async () => {
    const { render, bytes, endAll } = start();

    await expect(render('translates')).rejects.toThrow('away');
    await endAll();

    expect(bytes.usedBytes).toBe(0);
  });

  it('renders what depends on other templates each time, however many renderings depended on', async () => {
    const render = includingWhatDataNames();

    for (let rendering = 0; rendering < 5; rendering++) {
      const names = Array.from({ length: 120 }, (_, index) => `part-${rendering}-${index}`);
      await expect(render(names)).resolves.toMatchObject({ missing: [] });
    }
  });
});

describe('a template that failed with what was loaded because renderings before depended on it', () => {
  const title = { partials: [], texts: ['title'], settings: [] };

  /** A renderer that has rendered a template with a title before, and what it was evaluated with since. */
  async function afterRendering(evaluate: (task: RenderTask) => TaskResult) {
    const tasks: RenderTask[] = [];
    const texts = jest.fn(async (_caller: unknown, _language: string, keys: readonly string[]) =>
      Object.fromEntries(keys.map((key) => [key, 'x'])),
    );
    let isFirst = true;
    const parts = {
      sandbox: {
        run: async (_owner: unknown, task: RenderTask): Promise<TaskResult> => {
          if (isFirst) return { ...rendered, used: title };
          tasks.push(task);
          return evaluate(task);
        },
      },
      settings: { visibleTo: async () => ({}) },
      localization: { texts },
      clock: { now: () => new Date() },
      bytes: new ByteBudget(BYTES_MAX),
    };
    const renderer = templateRenderer(parts as unknown as Parameters<typeof templateRenderer>[0]);
    const render = (signal?: AbortSignal) =>
      renderer.render({
        caller: { tenantId: 'acme', userId: 'ada', userName: 'Ada', permissions: [] },
        template: {
          key: { name: 'a', culture: undefined },
          revision: { id: 'one', content: 'x', mimeType: 'text/html' },
        },
        revisionChoice: 'newest',
        culture: undefined,
        format: DocumentFormat.Html,
        data: {},
        ...(signal ? { signal } : {}),
      });
    await render();
    isFirst = false;
    return { render, tasks, texts };
  }

  it('is rendered without it, whatever failed while it was loaded', async () => {
    const { render, tasks, texts } = await afterRendering(() => rendered);
    texts.mockRejectedValueOnce(new Error('too large'));
    await expect(render()).resolves.toMatchObject({ missing: [] });
    expect(tasks.map((task) => task.texts)).toEqual([{}]);
  });

  it('is rendered without it where it names too much beside it', async () => {
    const tooMuch: TaskResult = { kind: 'exhausted', message: 'too many names', byNames: true };
    const { render, tasks } = await afterRendering((task) => ('title' in task.texts ? tooMuch : rendered));
    await expect(render()).resolves.toMatchObject({ missing: [] });
    expect(tasks.map((task) => task.texts)).toEqual([{ title: 'x' }, {}]);
  });

  it('is not evaluated again where it is too expensive by itself, or where nobody waits for it', async () => {
    const tooMuch: TaskResult = { kind: 'exhausted', message: 'too much work', byNames: false };
    const { render, tasks, texts } = await afterRendering(() => tooMuch);
    await expect(render()).rejects.toMatchObject({ slug: 'template-too-expensive' });
    expect(tasks).toHaveLength(1);
    texts.mockRejectedValueOnce(new Error('away'));
    await expect(render(AbortSignal.abort())).rejects.toThrow('away');
    expect(tasks).toHaveLength(1);
  });

  it('has its texts in parts that fit a message, and keys like members of objects are texts', async () => {
    const keys = ['__proto__', ...Array.from({ length: 499 }, (_, index) => `Shop:${index}`)];
    const more: TaskResult = {
      kind: 'dependencies',
      dependencies: { partials: [], texts: keys, settings: [] },
    };
    const isComplete = (task: RenderTask) => keys.every((key) => Object.hasOwn(task.texts, key));
    const { render, texts } = await afterRendering((task) => (isComplete(task) ? rendered : more));
    await render();
    expect(texts.mock.calls.map(([, , some]) => some.length)).toEqual([1, 200, 200, 100]);
  });
});

/** A renderer of a revision that includes the templates that its data names. */
function includingWhatDataNames() {
  const parts = {
    templates: { findNearest: async () => ({ revision: { content: 'x' } }) },
    sandbox: {
      run: async (_owner: unknown, task: Task): Promise<TaskResult> => {
        if (task.kind !== 'render') throw new Error(task.kind);
        const names = (JSON.parse(task.data) as { names: string[] }).names;
        const partials = names.filter((name) => !(name in task.partials));
        const used = { partials: names, texts: [], settings: [] };
        return partials.length > 0
          ? { kind: 'dependencies', dependencies: { partials, texts: [], settings: [] } }
          : { ...rendered, used };
      },
    },
    settings: { visibleTo: async () => ({}) },
    localization: { texts: async () => ({}) },
    clock: { now: () => new Date() },
    bytes: new ByteBudget(BYTES_MAX),
  };
  const renderer = templateRenderer(parts as unknown as Parameters<typeof templateRenderer>[0]);
  const render = (names: string[]) =>
    renderer.render({
      caller: { tenantId: 'acme', userId: 'ada', userName: 'Ada', permissions: [] },
      template: {
        key: { name: 'a', culture: undefined },
        revision: { id: 'one', content: 'includes', mimeType: 'text/html' },
      },
      revisionChoice: 'newest',
      culture: undefined,
      format: DocumentFormat.Html,
      data: { names },
    });
  return render;
}
