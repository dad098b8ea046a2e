import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@plinth/runtime/process/log';
import { bundledProgram } from '@plinth/testing/bundled-program';
import { aCaller } from '@plinth/testing/http';
import { sandboxPool, type SandboxPool } from '../src/render/sandbox-pool';
import type { RenderTask } from '../src/render/sandbox/protocol';
import { aRenderTask } from './a-render-task';
import { attackCorpus, bombs, hostileData, type Canaries } from './attack-corpus';
import { published, saved, startTemplates, type Templates } from './start-templates';

const SECRET = 'canary-4711';

describe('a hostile template', () => {
  let pool: SandboxPool;
  let folder: string;
  let listener: Server;
  let connections = 0;
  let canaries: Canaries;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'canary-'));
    writeFileSync(join(folder, 'canary'), SECRET);
    process.env['PLINTH_CANARY'] = SECRET;
    listener = createServer((_, response) => response.end(SECRET)).on('connection', () => connections++);
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
    canaries = { variable: 'PLINTH_CANARY', file: join(folder, 'canary'), url };
    pool = sandboxPool(
      {
        program: bundledProgram('apps/template/src/sandbox.ts'),
        processes: 2,
        queueMax: 10_000,
        // So that none of them is given up because the machine is busy.
        millisecondsMax: 60_000,
        memoryMegabytesMax: 192,
      },
      silentLog(),
    );
  });
  afterAll(() => {
    pool.close();
    listener.close();
    delete process.env['PLINTH_CANARY'];
    rmSync(folder, { recursive: true });
  });

  const task = (source: string, isMarkup: boolean): RenderTask =>
    aRenderTask(source, { mimeType: isMarkup ? 'text/html' : 'text/plain', data: hostileData });

  it('reaches neither environment, files, sockets nor code, in more than 2,000 attempts', async () => {
    const corpus = attackCorpus(canaries);
    expect(corpus.length).toBeGreaterThanOrEqual(2_000);

    const responses = await Promise.all(
      corpus.map((source, index) =>
        pool.run(
          { tenantId: `tenant-${index % 5}`, userId: `user-${index % 50}` },
          task(source, index % 2 === 0),
        ),
      ),
    );

    const revealing = responses
      .map((response, index) => [corpus[index], JSON.stringify(response)] as const)
      .filter(([source, response]) => {
        const output = response!.replaceAll(JSON.stringify(source).slice(1, -1), '');
        return output.includes(SECRET) || /native code|\[object |root:x:0/.test(output);
      });
    expect(revealing).toEqual([]);
    expect(connections).toBe(0);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    // No payload so much as ended its process: what came back are responses of the language.
    const killed = responses.filter(
      (response) => response.kind === 'exhausted' && response.message.includes('memory'),
    );
    expect(killed).toEqual([]);
  });

  it('finds nothing outside of the language either: its process has no environment, files or sockets', async () => {
    const { execFileSync } = await import('node:child_process');
    const probe = join(folder, 'probe.cjs');
    writeFileSync(
      probe,
      `const tried = [() => require('fs').readFileSync(${JSON.stringify(canaries.file)}), () => require('child_process').execSync('id'),
        () => new (require('worker_threads').Worker)('1', { eval: true }), () => Function('return 1')(), () => require('fs').writeFileSync('/tmp/x', '1')];
      console.log(JSON.stringify(tried.map((work) => { try { work(); return 'done'; } catch (error) { return error.code || error.name; } })));`,
    );
    const flags = [
      '--permission',
      `--allow-fs-read=${probe}`,
      '--disallow-code-generation-from-strings',
      '--no-warnings',
    ];
    const output = execFileSync(process.execPath, [...flags, probe], { env: {}, encoding: 'utf8' });

    expect(JSON.parse(output)).toEqual([
      'ERR_ACCESS_DENIED',
      'ERR_ACCESS_DENIED',
      'ERR_ACCESS_DENIED',
      expect.stringMatching(/EvalError|ERR_CODEGEN/),
      'ERR_ACCESS_DENIED',
    ]);
  });
});

describe('a template that exceeds its limits', () => {
  let service: Templates;
  beforeAll(async () => {
    service = await startTemplates({ RENDER_PROCESSES: '3', RENDER_MILLISECONDS_MAX: '700' });
  });
  afterAll(() => service.close());

  it.each(Object.entries(bombs))('is stopped with 422 by its time limit: %s', async (_, content) => {
    const http = service.as(aCaller());
    await saved(http, { name: 'bomb', content });

    const response = await http.post('/templates/bomb/preview');

    expect(response.status).toBe(422);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
  });

  it('does not delay templates of other tenants', async () => {
    const [attacker, client] = [service.as(aCaller()), service.as(aCaller())];
    await saved(attacker, { name: 'bomb', content: bombs['a loop that makes lists']! });
    await published(client, { name: 'a', content: 'Hello {{ name }}' });

    const ended: number[] = [];
    const preview = async (http: typeof client, name: string) => {
      const { status } = await http.post(`/templates/${name}/preview`, { data: { name: 'Ada' } });
      ended.push(status);
    };
    const exploding = Array.from({ length: 8 }, () => preview(attacker, 'bomb'));
    await Promise.all([...exploding, preview(client, 'a')]);

    expect(ended.toSorted()).toEqual([200, ...Array(8).fill(422)]);
    // Two of the three processes are the most that the attacker has. Behind all of its eight it would be the seventh at best.
    expect(ended.indexOf(200)).toBeLessThan(6);
  });

  it('is refused with Retry-After when too many wait', async () => {
    const small = await startTemplates({
      RENDER_PROCESSES: '1',
      RENDER_QUEUE_MAX: '2',
      RENDER_MILLISECONDS_MAX: '700',
    });
    const http = small.as(aCaller());
    await saved(http, { name: 'slow', content: bombs['a loop that makes lists']! });

    const responses = await Promise.all(
      Array.from({ length: 12 }, () => http.post('/templates/slow/preview')),
    );
    await small.close();

    // How many come while one is rendered and two wait depends on the machine.
    const refused = responses.filter(({ status }) => status !== 422);
    expect(refused).not.toHaveLength(0);
    for (const { status, headers } of refused) {
      expect(status).toBe(429);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
    }
  });
});
