import { InfiniteQueryObserver, QueryClient, QueryObserver } from '@tanstack/react-query';
import { readingAgain } from './read-again';

const queryKey = ['timeline'];
let queries: QueryClient;
let reads: number;

beforeEach(() => {
  jest.useFakeTimers();
  queries = new QueryClient({ defaultOptions: { queries: { retry: false, gcTime: Infinity } } });
  reads = 0;
});
afterEach(() => {
  queries.clear();
  jest.useRealTimers();
});

const after = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

it('reads at once what one event is about, and once a second what many are about, the last of them too', async () => {
  const stop = new QueryObserver(queries, { queryKey, queryFn: () => ++reads }).subscribe(() => undefined);
  await after(0);
  expect(reads).toBe(1);
  const { readAgain } = readingAgain(queries);
  readAgain(queryKey);
  await after(0);
  expect(reads).toBe(2);
  for (let event = 0; event < 100; event++) readAgain(queryKey);
  await after(999);
  expect(reads).toBe(2);
  await after(1);
  expect(reads).toBe(3);
  // Nothing came since.
  await after(10_000);
  expect(reads).toBe(3);
  stop();
});

it('does not end what is being read, and reads again what may have been read before the event', async () => {
  const ended: boolean[] = [];
  const queryFn = ({ signal }: { signal: AbortSignal }) =>
    new Promise<number>((resolve) => {
      setTimeout(() => {
        ended.push(signal.aborted);
        resolve(++reads);
      }, 3_000);
    });
  const stop = new QueryObserver(queries, { queryKey, queryFn }).subscribe(() => undefined);
  const { readAgain } = readingAgain(queries);
  await after(1_000);
  readAgain(queryKey);
  readAgain(queryKey);
  await after(2_000);
  expect(reads).toBe(1);
  await after(3_000);
  expect(reads).toBe(2);
  await after(10_000);
  expect({ reads, ended }).toEqual({ reads: 2, ended: [false, false] });
  stop();
});

it('pauses for as many seconds as a list has pages, and reads nothing once it is stopped', async () => {
  const list = new InfiniteQueryObserver(queries, {
    queryKey,
    queryFn: ({ pageParam }) => {
      reads++;
      return pageParam;
    },
    initialPageParam: 1,
    getNextPageParam: (last) => last + 1,
  });
  const end = list.subscribe(() => undefined);
  await after(0);
  await list.fetchNextPage();
  await list.fetchNextPage();
  expect(reads).toBe(3);
  const { readAgain, stop } = readingAgain(queries);
  readAgain(queryKey);
  readAgain(queryKey);
  await after(2_999);
  expect(reads).toBe(6);
  await after(1);
  expect(reads).toBe(9);
  readAgain(queryKey);
  stop();
  await after(10_000);
  expect(reads).toBe(9);
  end();
});

it('reads again once more where somebody asked for more of the list meanwhile', async () => {
  const read: number[] = [];
  const list = new InfiniteQueryObserver(queries, {
    queryKey,
    queryFn: ({ pageParam }) =>
      new Promise<number>((resolve) => {
        setTimeout(() => {
          read.push(pageParam);
          resolve(pageParam);
        }, 100);
      }),
    initialPageParam: 1,
    getNextPageParam: (last) => last + 1,
  });
  const end = list.subscribe(() => undefined);
  await after(100);
  readingAgain(queries).readAgain(queryKey);
  await after(50);
  void list.fetchNextPage();
  await after(10_000);
  // The first page is as it was before the event until it is read after the second.
  expect(read.slice(read.indexOf(2) + 1)).toEqual([1, 2]);
  end();
});
