import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { protoPackages } from '@plinth/proto/packages';
import type { ResolveRequest__Output } from '@plinth/proto/generated/plinth/settings/v1/ResolveRequest';
import { grpcHandlers, serveGrpc, serviceClient } from '@plinth/runtime/rpc/grpc';
import { silentLog } from '@plinth/runtime/process/log';
import { aCaller, TEST_KEYS } from '@plinth/testing/http';
import { grpcServices } from '../src/grpc/server';
import { startLocalization, type Localization } from './start-localization';

const anyPort = { HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 };

/** A settings service that knows one preference and records whose was requested. */
async function serveSettings(preference: string | undefined) {
  const requested: { tenantId: string; userId: string }[] = [];
  const { unary } = grpcHandlers(TEST_KEYS, silentLog());
  const Resolve = unary<ResolveRequest__Output, object>(async ({ tenantId, userId, names }) => {
    requested.push({ tenantId, userId });
    return { settings: preference === undefined ? [] : [{ name: names[0], value: preference }] };
  });
  const handlers = { Resolve, RegisterDefinitions: Resolve };
  const server = await serveGrpc(anyPort, [
    { definition: protoPackages.settings.v1.Settings.service, handlers },
  ]);
  return { ...server, requested };
}

describe('the preferred culture of a signed-in caller', () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });
  const startWith = async (port: number): Promise<Localization> => {
    const environment = { GRPC_SERVICES: `settings=127.0.0.1:${port}` };
    const localization = await startLocalization({ environment });
    closers.push(localization.close);
    return localization;
  };
  const cultureOf = async (localization: Localization, caller: Caller | null, query = '') =>
    (await localization.as(caller).get(`/localization${query}`, { headers: { 'accept-language': 'en-GB' } }))
      .body.currentCulture;

  it('counts after the URL and before Accept-Language', async () => {
    const settings = await serveSettings('fr-CA');
    closers.push(settings.close);
    const localization = await startWith(settings.port);
    const caller = aCaller({ permissions: [] });

    expect(await cultureOf(localization, caller)).toBe('fr-CA');
    expect(await cultureOf(localization, caller, '?cultureName=fr')).toBe('fr');
    expect(await cultureOf(localization, null)).toBe('en-GB');
    expect(settings.requested).toEqual([{ tenantId: caller.tenantId, userId: caller.userId }]);
  });

  it.each([undefined, 'ja'])('is ignored where it is %s: Accept-Language decides', async (preference) => {
    const settings = await serveSettings(preference);
    closers.push(settings.close);
    expect(await cultureOf(await startWith(settings.port), aCaller())).toBe('en-GB');
  });

  it('may be unknown: texts are served also while the settings service is unavailable', async () => {
    const settings = await serveSettings('fr');
    await settings.close();
    expect(await cultureOf(await startWith(settings.port), aCaller())).toBe('en-GB');
  });
});

describe('the gRPC call ResolveTexts', () => {
  let localization: Localization;
  let server: Awaited<ReturnType<typeof serveGrpc>>;
  let texts: ReturnType<typeof client>;
  const client = (port: number) =>
    serviceClient('localization', protoPackages.localization.v1.Localization, `127.0.0.1:${port}`, TEST_KEYS);
  beforeAll(async () => {
    localization = await startLocalization();
    server = await serveGrpc(anyPort, grpcServices(localization));
    texts = client(server.port);
  });
  afterAll(async () => {
    await texts.close();
    await server.close();
    await localization.close();
  });

  it("returns the tenant's texts, then the platform's, then those of the culture it falls back to", async () => {
    const caller = aCaller();
    await localization
      .as(caller)
      .put('/localization/overrides/Workflow/fr/outcomes.Denied', { value: 'Non' });
    const response = await texts.call(
      'ResolveTexts',
      {
        tenantId: caller.tenantId,
        cultureName: 'fr-BE',
        resources: [
          { resourceName: 'Workflow', keys: ['outcomes.Denied', 'states.Draft', 'no such key', '__proto__'] },
        ],
      },
      null,
    );
    expect(response).toEqual({
      cultureName: 'fr',
      texts: [
        { resourceName: 'Workflow', key: 'outcomes.Denied', value: 'Non' },
        { resourceName: 'Workflow', key: 'states.Draft', value: 'Brouillon' },
      ],
    });
  });

  it('returns a whole resource in the default culture where neither keys nor a culture are given', async () => {
    const response = await texts.call(
      'ResolveTexts',
      { tenantId: newId(), cultureName: '', resources: [{ resourceName: 'Validation', keys: [] }] },
      null,
    );
    expect(response.cultureName).toBe('en');
    expect(response.texts?.find(({ key }) => key === 'NotEmpty')?.value).toBe('“{0}” must not be empty.');
  });

  it('returns once what is asked for many times', async () => {
    const resources = [
      { resourceName: 'Validation', keys: ['NotEmpty', 'NotEmpty'] },
      { resourceName: 'Validation', keys: ['NotEmpty'] },
      ...Array.from({ length: 3 }, () => ({ resourceName: 'Workflow', keys: [] })),
      { resourceName: 'Workflow', keys: ['states.Draft'] },
    ];
    const response = await texts.call(
      'ResolveTexts',
      { tenantId: newId(), cultureName: 'en', resources },
      null,
    );
    const names = response.texts!.map(({ resourceName, key }) => `${resourceName}.${key}`);

    expect(names.filter((name) => name.startsWith('Validation'))).toEqual(['Validation.NotEmpty']);
    expect(names).toContain('Workflow.outcomes.Denied');
    expect(new Set(names).size).toBe(names.length);
  });

  it('refuses a malformed culture, and a caller of another tenant', async () => {
    const resolve = (cultureName: string, caller: Caller | null) =>
      texts.call('ResolveTexts', { tenantId: newId(), cultureName, resources: [] }, caller);
    await expect(resolve('fr_CA', null)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(resolve('fr', aCaller())).rejects.toMatchObject({ kind: 'forbidden' });
  });
});
