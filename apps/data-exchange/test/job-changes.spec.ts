import { aCaller } from '@plinth/testing/http';
import { startDataExchange, upload, type DataExchange } from './start-data-exchange';

describe('who changed an import', () => {
  let exchange: DataExchange;
  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  const mappings = [{ sourceColumn: 'code', targetProperty: 'code' }];

  it('is told with the job, and what its rows are', async () => {
    const [uploader, colleague] = [aCaller({ userId: 'ada' }), aCaller({ userId: 'bea' })];
    const caller = { ...colleague, tenantId: uploader.tenantId };
    const { body: uploaded } = await upload(exchange, uploader, 'code,title\nA,first\n');
    expect(uploaded).toMatchObject({ entityTypeName: 'Article', modifiedAt: null, modifiedBy: null });

    await exchange.as(uploader).post(`/imports/${uploaded.id}/preview`);
    await exchange.as(caller).put(`/imports/${uploaded.id}/draft-mappings`, { mappings });

    const { body: job } = await exchange.as(uploader).get(`/imports/${uploaded.id}`);
    expect(job).toMatchObject({ modifiedBy: 'bea', modifiedAt: expect.any(String) });
    expect(job.concurrencyStamp).not.toBe(uploaded.concurrencyStamp);
  });

  it('confirms mappings of the job that was read, not of one that somebody changed since', async () => {
    const caller = aCaller();
    const { body: uploaded } = await upload(exchange, caller, 'code,title\nA,first\n');
    const confirm = (concurrencyStamp?: string | null) =>
      exchange.as(caller).put(`/imports/${uploaded.id}/mappings`, {
        mappings: [...mappings, { sourceColumn: 'title', targetProperty: 'title' }],
        concurrencyStamp,
      });
    await exchange.as(caller).post(`/imports/${uploaded.id}/preview`);
    await exchange.as(caller).put(`/imports/${uploaded.id}/draft-mappings`, { mappings });

    for (const stamp of [uploaded.concurrencyStamp, 'something else', '']) {
      const refused = await confirm(stamp);
      expect(refused.status).toBe(409);
      expect(refused.body.type).toMatch(/stale-version$/);
    }

    const { body: job } = await exchange.as(caller).get(`/imports/${uploaded.id}`);
    expect((await confirm(job.concurrencyStamp)).status).toBe(204);
    expect((await confirm()).status).toBe(204);
    expect((await confirm(null)).status).toBe(204);
  });

  describe('matters to a person who names what they were shown, and then', () => {
    const complete = [...mappings, { sourceColumn: 'title', targetProperty: 'title' }];
    const ifMatch = (etag: string | null) => ({ headers: { 'if-match': etag! } });
    const tagOf = ({ headers }: { headers: Headers }) => headers.get('etag');
    const begun = async () => {
      const [caller, colleague] = [aCaller(), aCaller()];
      const { body: job } = await upload(exchange, caller, 'code,title\nA,first\n');
      const path = `/imports/${job.id}`;
      const http = exchange.as(caller);
      const seen = tagOf(await http.post(`${path}/preview`));
      return { caller, http, theirs: exchange.as({ ...colleague, tenantId: caller.tenantId }), path, seen };
    };
    const refused = { status: 409, body: { type: expect.stringMatching(/stale-version$/) } };

    it('chooses and confirms columns, over none that a colleague chose since', async () => {
      const { http, theirs, path, seen } = await begun();
      const draft = (etag: string | null) =>
        http.put(`${path}/draft-mappings`, { mappings: complete }, ifMatch(etag));
      const confirm = (etag: string | null) =>
        http.put(`${path}/mappings`, { mappings: complete }, ifMatch(etag));
      const kept = await draft(seen);
      expect(kept.status).toBe(204);
      expect((await http.post(`${path}/preview`)).headers.get('etag')).toBe(tagOf(kept));
      expect((await http.get(`${path}/draft-mappings`)).body.concurrencyStamp).toBe(
        (await http.get(path)).body.concurrencyStamp,
      );

      await theirs.put(`${path}/draft-mappings`, { mappings });
      expect(await draft(tagOf(kept))).toMatchObject(refused);
      expect(await confirm(tagOf(kept))).toMatchObject(refused);
      expect((await http.get(`${path}/draft-mappings`)).body.mappings).toMatchObject(mappings);

      expect((await confirm(tagOf(await http.post(`${path}/preview`)))).status).toBe(204);
    });

    it('executes what was checked, and nothing that a colleague mapped since', async () => {
      const { http, theirs, path, seen } = await begun();
      const execute = (etag: string | null) =>
        http.post(`${path}/execute`, { mode: 'insert' }, ifMatch(etag));
      const confirmed = await http.put(`${path}/mappings`, { mappings: complete }, ifMatch(seen));
      const checked = tagOf(await http.post(`${path}/dry-run`));
      expect(checked).toBe(tagOf(confirmed));
      const swapped = complete.map(({ sourceColumn }, at) => ({
        sourceColumn,
        targetProperty: complete.at(1 - at)!.targetProperty,
      }));
      await theirs.put(`${path}/mappings`, { mappings: swapped });

      expect(await execute(checked)).toMatchObject(refused);
      expect((await http.get(path)).body.status).toBe('Mapped');
      // How a colleague would import them changes nothing of what is imported.
      const checkedAgain = tagOf(await http.post(`${path}/dry-run`));
      await theirs.put(`${path}/draft-mappings`, { options: { mode: 'update' } });
      expect((await execute(checkedAgain)).status).toBe(202);
    });

    it('repeats a request, and is told once more what became of it', async () => {
      const { caller, path, seen } = await begun();
      const repeat = async (operationId: string, method: string, step: string, etag: string | null) => {
        const http = exchange.as({ ...caller, operationId });
        const send = () =>
          http.send(method, `${path}/${step}`, { body: { mappings: complete }, ...ifMatch(etag) });
        const [first, again] = [await send(), await send()];
        expect(again.status).toBe(first.status);
        expect([first.status, tagOf(again)]).toEqual([expect.any(Number), tagOf(first)]);
        expect(first.status).toBeLessThan(300);
        return tagOf(first);
      };
      const drafted = await repeat('draft', 'PUT', 'draft-mappings', seen);
      const confirmed = await repeat('confirm', 'PUT', 'mappings', drafted);
      await repeat('execute', 'POST', 'execute', confirmed);
    });
  });
});
