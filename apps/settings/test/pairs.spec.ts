import { newId } from '@plinth/kernel/uuid';
import { aCaller, type TestClient } from '@plinth/testing/http';
import { eventsOf } from '@plinth/testing/published-events';
import { findUnserializable, type Write } from '@plinth/testing/serial-orders';
import { startSettings, type Settings } from './start-settings';

const CULTURE = 'Service.Localization.PreferredCulture';
const ZONE = 'Service.Timing.PreferredTimezone';

interface World {
  tenantId: string;
  as(operationId?: string): TestClient;
  etag: string;
}

describe('two writes at the same moment', () => {
  let service: Settings;
  beforeAll(async () => {
    service = await startSettings();
  });
  afterAll(() => service.close());

  /** A tenant with values of its own and of ada. */
  const setUp = async (): Promise<World> => {
    const tenantId = newId();
    const as = (operationId?: string) => service.as(aCaller({ tenantId, userId: 'ada', operationId }));
    await as().put(`/settings/tenant/${CULTURE}`, { value: 'de' });
    await as().put(`/settings/user/${CULTURE}`, { value: 'en' });
    const { headers } = await as().get(`/settings/tenant/${CULTURE}`);
    return { tenantId, as, etag: headers.get('etag') ?? '' };
  };

  const writes: Record<string, Write<World>> = {
    'set the value of the tenant': ({ as }, id) => as(id).put(`/settings/tenant/${CULTURE}`, { value: 'fr' }),
    'set it as it was read': ({ as, etag }, id) =>
      as(id).put(`/settings/tenant/${CULTURE}`, { value: 'it' }, { headers: { 'if-match': etag } }),
    'clear the value of the tenant': ({ as }, id) =>
      as(id).put(`/settings/tenant/${CULTURE}`, { value: null }),
    'set the value of a person': ({ as }, id) => as(id).put(`/settings/user/${CULTURE}`, { value: 'fr' }),
    'lock it': ({ as }, id) => as(id).put(`/settings/tenant/${CULTURE}/lock`),
    'unlock it': ({ as }, id) => as(id).delete(`/settings/tenant/${CULTURE}/lock`),
    'clear the value of a person': ({ as }, id) => as(id).put(`/settings/user/${CULTURE}`, { value: null }),
    'set many of a person': ({ as }, id) =>
      as(id).put('/settings/user', {
        items: [
          { name: CULTURE, value: 'es' },
          { name: ZONE, value: 'Europe/Paris' },
        ],
      }),
  };

  const observe = async ({ as }: World) => {
    const paths = ['tenant', 'user'].flatMap((scope) => [
      `/settings/${scope}/${CULTURE}`,
      `/settings/${scope}/${CULTURE}/history`,
    ]);
    return Promise.all([...paths, '/settings/effective'].map((path) => as().get(path)));
  };

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
