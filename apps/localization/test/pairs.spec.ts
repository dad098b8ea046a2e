import { newId } from '@plinth/kernel/uuid';
import { aCaller, type TestClient } from '@plinth/testing/http';
import { eventsOf } from '@plinth/testing/published-events';
import { findUnserializable, type Write } from '@plinth/testing/serial-orders';
import { startLocalization, type Localization } from './start-localization';

interface World {
  tenantId: string;
  as(operationId?: string): TestClient;
  etag: string;
}

describe('two writes at the same moment', () => {
  let service: Localization;
  beforeAll(async () => {
    service = await startLocalization();
  });
  afterAll(() => service.close());

  const path = '/localization/overrides/Shop/en/one';
  const item = (key: string, value: string, more: object = {}) => ({
    resourceName: 'Shop',
    cultureName: 'en',
    key,
    value,
    ...more,
  });

  /** A tenant with a text of its own. */
  const setUp = async (): Promise<World> => {
    const tenantId = newId();
    const as = (operationId?: string) => service.as(aCaller({ tenantId, userId: 'ada', operationId }));
    await as().put(path, { value: 'first' });
    const { headers } = await as().get(path);
    return { tenantId, as, etag: headers.get('etag')! };
  };

  const removal = { resourceName: 'Shop', cultureName: 'en', key: 'one', formerValue: 'first' };
  const writes: Record<string, Write<World>> = {
    change: ({ as }, id) => as(id).put(path, { value: 'second' }),
    'change what was read': ({ as, etag }, id) =>
      as(id).put(path, { value: 'third' }, { headers: { 'if-match': etag } }),
    remove: ({ as }, id) => as(id).delete(path),
    'remove what was read': ({ as, etag }, id) => as(id).delete(path, { headers: { 'if-match': etag } }),
    'change many': ({ as }, id) =>
      as(id).put('/localization/overrides', { items: [item('one', 'many'), item('two', 'many')] }),
    'change many as they were read': ({ as }, id) =>
      as(id).put('/localization/overrides', {
        items: [item('two', 'as read'), item('one', 'as read', { formerValue: 'first' })],
      }),
    'remove many as they were read': ({ as }, id) =>
      as(id).post('/localization/overrides/removals', { items: [removal] }),
    'change another': ({ as }, id) => as(id).put('/localization/overrides/Shop/en/two', { value: 'other' }),
  };

  const observe = async ({ as }: World) => [
    await as().get('/localization/overrides?resourceName=Shop&cultureName=en'),
  ];

  it('have an order: what is seen of them is what one after the other leads to', async () => {
    expect(
      await findUnserializable({
        setUp,
        writes,
        observe,
        eventsOf: ({ tenantId }) => eventsOf(service, tenantId),
      }),
    ).toEqual({});
  });
});
