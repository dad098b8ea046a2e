import { startLoad } from './load';

it('writes what is not there already', async () => {
  const writtenByUrl = new Map<string, unknown[]>();
  jest.useFakeTimers();
  jest.spyOn(globalThis, 'fetch').mockImplementation(async (url, { method, body } = {}) => {
    const { value } = method === 'PUT' ? JSON.parse(String(body)) : {};
    if (value !== undefined) writtenByUrl.set(String(url), [...(writtenByUrl.get(String(url)) ?? []), value]);
    return new Response();
  });

  const load = startLoad('http://platform', 'token', 1_000);
  jest.advanceTimersByTime(100);
  await load.stop();

  expect(writtenByUrl.size).toBe(2);
  for (const values of writtenByUrl.values()) {
    expect(values.length).toBeGreaterThan(2);
    for (const [index, value] of values.entries()) expect(value).not.toBe(values[index - 1]);
  }
});
