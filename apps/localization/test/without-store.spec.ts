import { aCaller } from '@plinth/testing/http';
import { startLocalization, type Localization } from './start-localization';

let localization: Localization;
beforeAll(async () => {
  localization = await startLocalization({ environment: { OVERRIDE_STORE: 'none' } });
});
afterAll(() => localization.close());

describe('an installation without an override store', () => {
  it.each([
    ['GET', '/localization/overrides?resourceName=Shop&cultureName=en', undefined],
    ['GET', '/localization/overrides', undefined],
    ['PUT', '/localization/overrides', { items: [] }],
    ['GET', '/localization/overrides/Shop/en/title', undefined],
    ['PUT', '/localization/overrides/Shop/en/title', { value: 'x' }],
    ['PUT', '/localization/overrides/Shop/not_a_culture/title', undefined],
    ['DELETE', '/localization/overrides/Shop/en/title', undefined],
  ])('responds to %s %s with 501', async (method, path, body) => {
    const response = await localization.as(aCaller()).send(method, path, { body });
    expect(response.status).toBe(501);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.body.type).toMatch(/\/problems\/override-store-missing$/);
  });

  it('still requires the permission', async () => {
    const client = localization.as(aCaller({ permissions: [] }));
    expect((await client.delete('/localization/overrides/Shop/en/title')).status).toBe(403);
  });

  it('serves the texts of the platform', async () => {
    const { status, body } = await localization.as(aCaller()).get('/localization?cultureName=fr');
    expect([status, body.resources.Workflow['outcomes.Denied']]).toEqual([200, 'Refusé']);
  });
});
