import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import { createClient } from './client';
import { importJob } from './jobs';

const id = '01900000-0000-7000-8000-000000000001';
const progress = (event: string, status: string, rowsDone: number) =>
  `event: ${event}\ndata: ${JSON.stringify({ status, rowsDone, rowsFailed: 0, rowsPerSecond: 1, estimatedEndAt: null })}\n\n`;
const events = (body: string | ReadableStream) =>
  new Response(body, { headers: { 'content-type': 'text/event-stream' } });
const state = (status: string) => Response.json({ id, status });

/** A client that gets these responses, and records its requests. */
function exchangeWithResponses(...responses: Response[]) {
  const requests: string[] = [];
  const exchange = createClient(dataExchangeEndpoints, {
    baseUrl: 'http://platform',
    fetch: async (address, init) => {
      init?.signal?.throwIfAborted();
      requests.push(`${init?.method} ${String(address).replace(`http://platform/api/v1/imports/${id}`, '')}`);
      return responses.shift()!;
    },
  });
  return { exchange, requests };
}

/** Ends in the middle, as a connection does when a service is replaced. */
function breakingAfter(text: string): ReadableStream {
  const parts = [() => new TextEncoder().encode(text)];
  return new ReadableStream({
    pull(controller) {
      const part = parts.shift();
      if (part) controller.enqueue(part());
      else controller.error(new TypeError('terminated'));
    },
  });
}

describe('waiting for a job in the SDK', () => {
  it('reports progress and returns the final state of the job', async () => {
    const { exchange, requests } = exchangeWithResponses(
      events(progress('progress', 'Executing', 5) + progress('end', 'Completed', 9)),
      state('Completed'),
    );
    const seen: unknown[] = [];

    const job = await importJob(exchange, id).wait({
      onProgress: ({ status, rowsDone }) => seen.push([status, rowsDone]),
    });

    expect(job.status).toBe('Completed');
    expect(seen).toEqual([
      ['Executing', 5],
      ['Completed', 9],
    ]);
    expect(requests).toEqual(['GET /events', 'GET ']);
  });

  it.each([
    ['breaks', breakingAfter(progress('progress', 'Executing', 5))],
    ['ends early', progress('progress', 'Executing', 5)],
  ])('continues when the stream %s', async (_how, first) => {
    const { exchange, requests } = exchangeWithResponses(
      events(first),
      events(progress('end', 'Failed', 7)),
      state('Failed'),
    );

    expect((await importJob(exchange, id).wait()).status).toBe('Failed');
    expect(requests).toEqual(['GET /events', 'GET /events', 'GET ']);
  });

  it('stops when the caller aborts, and when the callback of the caller throws', async () => {
    const running = () => events(progress('progress', 'Executing', 5) + progress('end', 'Completed', 9));
    const abort = new AbortController();
    const stopped = importJob(exchangeWithResponses(running()).exchange, id).wait({ signal: abort.signal });
    abort.abort();
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });

    const onProgress = () => {
      throw new Error('the screen is gone');
    };
    const failing = importJob(exchangeWithResponses(running()).exchange, id).wait({ onProgress });
    await expect(failing).rejects.toThrow('the screen is gone');
  });

  it('throws a problem when the job does not exist', async () => {
    const problem = {
      type: 'https://x/problems/import-job-not-found',
      title: '',
      status: 404,
      detail: '',
      instance: '',
    };
    const { exchange } = exchangeWithResponses(Response.json(problem, { status: 404 }));

    await expect(importJob(exchange, id).wait()).rejects.toMatchObject({ slug: 'import-job-not-found' });
  });
});
