import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { protoPackages } from '@plinth/proto/packages';
import type { ResolveRequest__Output } from '@plinth/proto/generated/plinth/settings/v1/ResolveRequest';
import { grpcHandlers, serveGrpc, sibling } from '@plinth/runtime/grpc';
import { silentLog } from '@plinth/runtime/log';
import { aCaller, TEST_KEYS } from '@plinth/testing/http';
import { grpcServices } from '../src/grpc/server';
import { startLocalization, type Localization } from './start-localization';

const anyPort = { HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 };

/** A settings service that knows one preference and notes whose was asked for. */
async function serveSettings(preference: string | undefined) {
  const asked: { tenantId: string; userId: string }[] = [];
  const { unary } = grpcHandlers(TEST_KEYS, silentLog());
  const Resolve = unary<ResolveRequest__Output, object>(async ({ tenantId, userId, names }) => {
    asked.push({ tenantId, userId });
    return { settings: preference === undefined ? [] : [{ name: names[0], value: preference }] };
  });
  const handlers = { Resolve, RegisterDefinitions: Resolve };
  const server = await serveGrpc(anyPort, [
    { definition: protoPackages.settings.v1.Settings.service, handlers },
  ]);
  return { ...server, asked };
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

  it('comes after the address and before Accept-Language', async () => {
    const settings = await serveSettings('fr-CA');
    closers.push(settings.close);
    const localization = await startWith(settings.port);
    const caller = aCaller({ permissions: [] });

    expect(await cultureOf(localization, caller)).toBe('fr-CA');
    expect(await cultureOf(localization, caller, '?cultureName=fr')).toBe('fr');
    expect(await cultureOf(localization, null)).toBe('en-GB');
    expect(settings.asked).toEqual([{ tenantId: caller.tenantId, userId: caller.userId }]);
  });

  it.each([undefined, 'ja'])('that is %s leaves the choice to Accept-Language', async (preference) => {
    const settings = await serveSettings(preference);
    closers.push(settings.close);
    expect(await cultureOf(await startWith(settings.port), aCaller())).toBe('en-GB');
  });

  it('may be unknown: texts come also while the settings service is away', async () => {
    const settings = await serveSettings('fr');
    await settings.close();
    expect(await cultureOf(await startWith(settings.port), aCaller())).toBe('en-GB');
  });
});

describe('ResolveTexts', () => {
  let localization: Localization;
  let server: Awaited<ReturnType<typeof serveGrpc>>;
  let texts: ReturnType<typeof client>;
  const client = (port: number) =>
    sibling('localization', protoPackages.localization.v1.Localization, `127.0.0.1:${port}`, TEST_KEYS);
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

  it("answers with the tenant's own words, then the platform's, then those of the culture it falls back to", async () => {
    const caller = aCaller();
    await localization
      .as(caller)
      .put('/localization/overrides/Workflow/fr/outcomes.Denied', { value: 'Non' });
    const answer = await texts.ask(
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
    expect(answer).toEqual({
      cultureName: 'fr',
      texts: [
        { resourceName: 'Workflow', key: 'outcomes.Denied', value: 'Non' },
        { resourceName: 'Workflow', key: 'states.Draft', value: 'Brouillon' },
      ],
    });
  });

  it('gives a whole resource in the default culture where neither is said', async () => {
    const answer = await texts.ask(
      'ResolveTexts',
      { tenantId: newId(), cultureName: '', resources: [{ resourceName: 'Validation', keys: [] }] },
      null,
    );
    expect(answer.cultureName).toBe('en');
    expect(answer.texts?.find(({ key }) => key === 'NotEmpty')?.value).toBe('“{0}” must not be empty.');
  });

  it('refuses a malformed culture, and a person of another tenant', async () => {
    const ask = (cultureName: string, caller: Caller | null) =>
      texts.ask('ResolveTexts', { tenantId: newId(), cultureName, resources: [] }, caller);
    await expect(ask('fr_CA', null)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(ask('fr', aCaller())).rejects.toMatchObject({ kind: 'forbidden' });
  });
});
