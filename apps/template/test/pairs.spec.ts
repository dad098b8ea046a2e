import { TemplateLifecycleStatus as Status } from '@plinth/contracts/template/shapes';
import { newId } from '@plinth/kernel/uuid';
import { aCaller, type TestClient } from '@plinth/testing/http';
import { eventsOf } from '@plinth/testing/published-events';
import { findUnserializable, type Write } from '@plinth/testing/serial-orders';
import { published, startTemplates, type Templates } from './start-templates';

interface World {
  tenantId: string;
  as(operationId?: string): TestClient;
  /** Of the template as it was in the beginning. */
  etag: string;
  revisionId: string;
  categoryId: string;
  otherCategoryId: string;
}

describe('two writes at the same moment', () => {
  let service: Templates;
  beforeAll(async () => {
    service = await startTemplates();
  });
  afterAll(() => service.close());

  const callerOf = (tenantId: string, operationId?: string) =>
    aCaller({ tenantId, userId: 'ada', operationId });

  /** A published template with a newer draft, and a category that it is in. */
  const setUp = async (): Promise<World> => {
    const tenantId = newId();
    const as = (operationId?: string) => service.as(callerOf(tenantId, operationId));
    const category = await as().post('/template-categories', { name: 'Letters' });
    const other = await as().post('/template-categories', { name: 'Notes' });
    const { revisionId } = await published(as(), { name: 'a', content: 'one', category: 'Letters' });
    await as().put('/templates/a', { name: 'a', content: 'two', category: 'Letters' });
    const { headers } = await as().get('/templates/a');
    return {
      tenantId,
      as,
      etag: headers.get('etag')!,
      revisionId,
      categoryId: category.body.id,
      otherCategoryId: other.body.id,
    };
  };

  const ifMatch = ({ etag }: World) => ({ headers: { 'if-match': etag } });
  const moveByWorkflow = async ({ tenantId }: World, operationId: string, to: Status) => {
    const body = await service.lifecycle.move(
      callerOf(tenantId),
      { name: 'a', culture: undefined },
      {
        actor: callerOf(tenantId),
        from: Status.Draft,
        to,
        operationId,
        comment: '',
        version: '',
      },
    );
    return { status: 200, body };
  };
  const writes: Record<string, Write<World>> = {
    save: ({ as }, id) => as(id).put('/templates/a', { name: 'a', content: 'three', category: 'Letters' }),
    'save what was read': (world, id) =>
      world.as(id).put('/templates/a', { name: 'a', content: 'four' }, ifMatch(world)),
    publish: ({ as }, id) => as(id).post('/templates/a/publish'),
    'publish what was read': (world, id) => world.as(id).post('/templates/a/publish', null, ifMatch(world)),
    unpublish: ({ as }, id) => as(id).post('/templates/a/unpublish'),
    'delete the draft': ({ as }, id) => as(id).delete('/templates/a'),
    'delete the draft that was read': (world, id) => world.as(id).delete('/templates/a', ifMatch(world)),
    'archive by the workflow': (world, id) => moveByWorkflow(world, id, Status.Archived),
    'publish by the workflow': (world, id) => moveByWorkflow(world, id, Status.Published),
    'restore a revision': ({ as, revisionId }, id) =>
      as(id).post(`/templates/a/revisions/${revisionId}/restore`),
    'create once more': ({ as }, id) => as(id).post('/templates', { name: 'a', content: 'new' }),
    'create another': ({ as }, id) => as(id).post('/templates', { name: 'b', content: 'new' }),
    'save another': ({ as }, id) =>
      as(id).put('/templates/b', { name: 'b', content: 'saved', category: 'Letters' }),
    'rename the category': ({ as, categoryId }, id) =>
      as(id).put(`/template-categories/${categoryId}`, { name: 'Post', sortOrder: 1 }),
    'rename the category like the other one': ({ as, categoryId }, id) =>
      as(id).put(`/template-categories/${categoryId}`, { name: 'Notes', sortOrder: 1 }),
    'rename the other category like the first one': ({ as, otherCategoryId }, id) =>
      as(id).put(`/template-categories/${otherCategoryId}`, { name: 'Letters', sortOrder: 1 }),
    'delete the category': ({ as, categoryId }, id) => as(id).delete(`/template-categories/${categoryId}`),
    'create a category': ({ as }, id) => as(id).post('/template-categories', { name: 'Post', sortOrder: 2 }),
  };

  const observe = async ({ as }: World) => {
    const paths = [
      '/templates/a',
      '/templates/a/history',
      '/templates/a/lifecycle',
      '/templates/b',
      '/templates/b/history',
      '/template-categories',
      '/templates?sort=name',
    ];
    return Promise.all(paths.map((path) => as().get(path)));
  };

  it('have an order: what is seen of them is what one after the other leads to', async () => {
    // A draft that was saved since it was checked is not published.
    const isLost = ({ body }: { body: { detail?: string; problem?: { detail: string } } | undefined }) =>
      /was saved again meanwhile/.test(body?.detail ?? body?.problem?.detail ?? '');
    expect(
      await findUnserializable({
        setUp,
        writes,
        observe,
        eventsOf: ({ tenantId }) => eventsOf(service, tenantId),
        isLost,
      }),
    ).toEqual({});
  });
});
