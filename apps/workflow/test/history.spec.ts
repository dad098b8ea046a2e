import { aCaller } from '@plinth/testing/http';
import { interruptedDatabase } from '@plinth/testing/interrupted-database';
import { historyStore } from '../src/store/history-store';
import { startWorkflow, type Workflow } from './start-workflow';

describe('the history of an entity', () => {
  let service: Workflow;
  const caller = aCaller();
  const history = (query = '', entityId = '1') =>
    service.as(caller).get(`/workflow/Invoice/${entityId}/history${query}`);
  const move = (targetState: string) =>
    service.as(caller).post('/workflow/Invoice/1/transition', { targetState });
  const statesOf = (body: { items: { newState: string }[] }) => body.items.map(({ newState }) => newState);

  beforeAll(async () => {
    service = await startWorkflow();
    for (let round = 0; round < 12; round++) {
      await move('Submitted');
      await move('Draft');
    }
    await move('Cancelled');
  });
  afterAll(() => service.close());

  it('is returned newest first, twenty at a time, with the total count', async () => {
    const { status, headers, body } = await history();
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(body.items).toHaveLength(20);
    expect(body.totalCount).toBe(25);
    expect(statesOf(body).slice(0, 3)).toEqual(['Cancelled', 'Draft', 'Submitted']);
  });

  it('is returned in pages', async () => {
    const second = await history('?page=2&pageSize=10');
    expect(second.body.items).toHaveLength(10);
    expect((await history('?page=3&pageSize=10')).body.items).toHaveLength(5);
    expect((await history('?page=4&pageSize=10')).body).toEqual({
      items: [],
      totalCount: 25,
      nextCursor: null,
    });
    expect((await history('?pageSize=1000')).body.items).toHaveLength(25);
  });

  it('is read from either end, in pages and by cursor', async () => {
    const newestFirst = statesOf((await history('?pageSize=100&sort=-transitionedAt')).body);
    expect(newestFirst).toHaveLength(25);
    const oldestFirst: string[] = [];
    for (const page of [1, 2, 3])
      oldestFirst.push(...statesOf((await history(`?sort=transitionedAt&pageSize=10&page=${page}`)).body));
    expect(oldestFirst).toEqual([...newestFirst].reverse());
    const byCursor: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: Awaited<ReturnType<typeof history>> = await history(
        `?sort=transitionedAt&pageSize=10&cursor=${cursor}`,
      );
      byCursor.push(...statesOf(body));
      cursor = body.nextCursor;
    }
    expect(byCursor).toEqual(oldestFirst);
  });

  it('is read by cursor without gaps or repetitions while it grows', async () => {
    const move = (targetState: string) =>
      service.as(caller).post('/workflow/Invoice/growing/transition', { targetState });
    for (let round = 0; round < 5; round++) {
      await move('Submitted');
      await move('Draft');
    }
    const visited: string[] = [];
    const totals: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body }: Awaited<ReturnType<typeof history>> = await history(
        `?pageSize=4&cursor=${cursor}`,
        'growing',
      );
      visited.push(...statesOf(body));
      totals.push(body.totalCount);
      cursor = body.nextCursor;
      await move(totals.length % 2 === 1 ? 'Submitted' : 'Draft');
    }
    expect(visited).toEqual(
      Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? 'Draft' : 'Submitted')),
    );
    expect(totals).toEqual([10, 11, 12]);
  });

  it('is read as it is at one instant, with its total, also where the entity moves meanwhile', async () => {
    const http = service.as(caller);
    const moved = (targetState: string) => http.post('/workflow/Invoice/moving/transition', { targetState });
    await moved('Submitted');
    const db = interruptedDatabase(service.db, 'entity.findUnique', () => moved('Draft'));
    const key = { tenantId: caller.tenantId, entityType: 'Invoice', entityId: 'moving' };
    const oldest = { isNewestFirst: false, after: undefined, offset: 0, limit: 10 };

    const { rows, totalCount } = await historyStore(db).page(key, oldest);

    expect([rows.length, totalCount]).toEqual([1, 1]);
    expect((await history('', 'moving')).body.totalCount).toBe(2);
  });

  it.each([
    '?page=0',
    '?page=1.5',
    '?pageSize=0',
    '?pageSize=ten',
    '?cursor=x',
    '?page=1&cursor=',
    '?sort=comment',
    '?page=9000000&pageSize=100',
  ])('refuses %s with 400', async (query) => {
    const { status, headers } = await history(query);
    expect(status).toBe(400);
    expect(headers.get('content-type')).toMatch('application/problem+json');
  });

  it('refuses a cursor that was changed or belongs to another entity or tenant', async () => {
    const cursor = (await history('?pageSize=5&cursor=')).body.nextCursor as string;
    for (let position = 0; position < cursor.length; position += 3) {
      const other = cursor[position] === 'A' ? 'B' : 'A';
      const changed = cursor.slice(0, position) + other + cursor.slice(position + 1);
      expect((await history(`?cursor=${changed}`)).status).toBe(400);
    }
    expect((await history(`?cursor=${cursor}`, '2')).status).toBe(400);
    const foreign = await service.as(aCaller()).get(`/workflow/Invoice/1/history?cursor=${cursor}`);
    expect(foreign.status).toBe(400);
  });

  it('is empty for an entity that was never moved', async () => {
    expect((await history('', 'new')).body).toEqual({ items: [], totalCount: 0, nextCursor: null });
  });
});
