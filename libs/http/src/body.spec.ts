import { PassThrough, Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { Problem } from '@plinth/kernel/problem';
import { readJson } from './body';
import { ByteBudget } from '@plinth/runtime/process/byte-budget';

const request = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  Object.assign(Readable.from([Buffer.from(body)]), {
    headers: { 'content-type': 'application/json', ...headers },
  }) as unknown as IncomingMessage;

const refusal = async (body: string | Uint8Array, headers?: Record<string, string>) => {
  try {
    await readJson(request(body, headers));
    return 'read';
  } catch (error) {
    if (error instanceof Problem) return error.kind;
    throw error;
  }
};

describe('the JSON body of a request', () => {
  it('is parsed; of a repeated property the last value counts', async () => {
    expect(await readJson(request('{"a":1,"a":2}'))).toEqual({ a: 2 });
    expect(await readJson(request(''))).toBeUndefined();
  });

  it('may have properties named like those of prototypes without changing a prototype', async () => {
    await readJson(request('{"__proto__":{"polluted":true}}'));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([
    ['application/json', 'read'],
    ['application/json; charset=utf-8', 'read'],
    ['application/merge-patch+json', 'read'],
    ['application/json; charset=utf-16', 'unsupported-media-type'],
    ['text/plain', 'unsupported-media-type'],
    ['application/jsonp', 'unsupported-media-type'],
  ])('with the type %s is: %s', async (type, outcome) => {
    expect(await refusal('{}', { 'content-type': type })).toBe(outcome);
  });

  it('is refused when it is compressed, or too large by its Content-Length or by its bytes', async () => {
    expect(await refusal('{}', { 'content-encoding': 'gzip' })).toBe('unsupported-media-type');
    expect(await refusal('{}', { 'content-length': '2000000' })).toBe('too-large');
    expect(await refusal(`"${'x'.repeat(1024 * 1024)}"`)).toBe('too-large');
  });

  it('is refused while the process holds too many of them, each caller within a share', async () => {
    const budget = new ByteBudget(64 * 1024);
    const read = (tenantId: string) => {
      const reservation = budget.reserve({ tenantId, userId: 'ada' });
      return readJson(request(JSON.stringify('x'.repeat(20 * 1024))), reservation);
    };
    await read('acme');
    await expect(read('acme')).rejects.toMatchObject({ slug: 'share-used-up' });
    await read('globex');
    await read('initech');
    await expect(read('umbrella')).rejects.toMatchObject({ slug: 'overloaded' });
  });

  it('that has arrived already is limited and counted like one that arrives', async () => {
    const budget = new ByteBudget(64 * 1024);
    const arrived = (body: string) => {
      const stream = Object.assign(new PassThrough(), {
        headers: { 'content-type': 'application/json' },
        complete: true,
      });
      stream.end(body);
      return stream as unknown as IncomingMessage;
    };
    const read = (body: string) =>
      readJson(arrived(body), budget.reserve({ tenantId: 'acme', userId: 'ada' }));
    expect(await read('{"a":1}')).toEqual({ a: 1 });
    expect(await read('')).toBeUndefined();
    expect(budget.usedBytes).toBe('{"a":1}'.length);
    await expect(read(`"${'x'.repeat(60 * 1024)}"`)).rejects.toMatchObject({ slug: 'share-used-up' });
    await expect(readJson(arrived(`"${'x'.repeat(1024 * 1024)}"`))).rejects.toMatchObject({
      kind: 'too-large',
    });
  });

  it('is read in turn where it is large, so that small ones and other tenants wait for one piece', async () => {
    const budget = new ByteBudget(1024 * 1024 * 1024);
    const ended: string[] = [];
    const read = async (tenantId: string, bytes: number, name: string) => {
      const body = JSON.stringify('x'.repeat(bytes));
      await readJson(request(body), budget.reserve({ tenantId, userId: 'ada' }));
      ended.push(name);
    };
    const large = Array.from({ length: 10 }, (_, at) => read('acme', 500_000, `acme ${at}`));
    await Promise.all([...large, read('globex', 500_000, 'globex'), read('globex', 100, 'small')]);
    expect(ended[0]).toBe('small');
    expect(ended.indexOf('globex')).toBeLessThan(3);
  });

  it('is refused with NUL in a name at any depth', async () => {
    expect(await refusal('{"a":[{"b\\u0000":1}]}')).toBe('invalid');
  });

  it('counts the depth of what is nested, not the brackets in texts', async () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(await refusal(nested(64))).toBe('read');
    expect(await refusal(nested(65))).toBe('malformed');
    expect(await refusal(`{"a":${nested(64)}}`)).toBe('malformed');
    expect(await refusal(`[${'[{}],'.repeat(1_000)}1]`)).toBe('read');
    for (const escapes of ['\\'.repeat(201), '"'.repeat(70), '\\"'.repeat(70), `${'x'.repeat(63)}\\`])
      for (const closed of [nested(62), nested(63)])
        expect(
          await refusal(`["${'x'.repeat(99)}",[${JSON.stringify(escapes + '[['.repeat(50))},${closed}]]`),
        ).toBe(closed === nested(62) ? 'read' : 'malformed');
    expect(await refusal(JSON.stringify([`"\\${'['.repeat(100)}`, `\\${'{'.repeat(100)}"`]))).toBe('read');
  });

  it.each([
    ['"a\\u0000"', 'body'],
    ['{"a":[1,{"b c":"\\uD800"}]}', 'a[1].b c'],
    ['[["x\\udc00y"]]', '[0][0]'],
    ['{"a":{"\\u0000":1}}', 'a'],
  ])('with a text that cannot be stored, %s, names its place', async (body, place) => {
    await expect(readJson(request(body))).rejects.toMatchObject({
      options: { errors: { [place]: ['Service:Validation:FormatValidator'] } },
    });
    expect(await refusal('"\\ud83d\\ude00 and \\\\u0000 are fine"')).toBe('read');
  });

  it('costs little more than parsing it, whatever it is made of', async () => {
    const lists = Buffer.from(`[${'[],'.repeat(340_000)}[]]`);
    const cost = async (work: () => unknown) => {
      const before = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    // Whatever else the machine does can only add to the least of each.
    let [parsing, reading] = [Infinity, Infinity];
    for (let round = 0; round < 4 || (round < 30 && reading >= 6 * parsing); round++) {
      parsing = Math.min(parsing, await cost(() => JSON.parse(lists.toString())));
      reading = Math.min(reading, await cost(() => readJson(request(lists))));
    }
    expect(reading).toBeLessThan(6 * parsing);
  });
});
