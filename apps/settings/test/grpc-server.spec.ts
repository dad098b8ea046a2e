import { createSettingsClient, type SettingsClient } from '@plinth/clients/settings-client';
import { protoPackages } from '@plinth/proto/packages';
import { serveGrpc, serviceClient } from '@plinth/runtime/rpc/grpc';
import { createLog, silentLog } from '@plinth/runtime/process/log';
import { eventually } from '@plinth/testing/eventually';
import { aCaller, TEST_KEYS } from '@plinth/testing/http';
import type { Close } from '@plinth/runtime/process/lifecycle';
import { grpcServices } from '../src/grpc/server';
import { startSettings, type Settings } from './start-settings';

const CULTURE = 'Service.Localization.PreferredCulture';
const TOKEN = 'Invoicing.Token';

let service: Settings;
let client: SettingsClient;
let closeGrpc: Close;
let address: string;

beforeAll(async () => {
  service = await startSettings();
  const grpc = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, grpcServices(service));
  closeGrpc = grpc.close;
  address = `127.0.0.1:${grpc.port}`;
  client = createSettingsClient(
    { GRPC_SERVICES: { settings: address }, CALLER_KEYS: TEST_KEYS },
    silentLog(),
  );
});
afterAll(async () => {
  await client.close();
  await closeGrpc();
  await service.close();
});

describe('the gRPC server of settings', () => {
  it('resolves a setting for a user and for a tenant', async () => {
    const caller = aCaller();
    await service.as(caller).put(`/settings/tenant/${CULTURE}`, { value: 'fr' });
    await service.as(caller).put(`/settings/user/${CULTURE}`, { value: 'fr-CA' });

    expect(await client.resolve(caller, [CULTURE])).toEqual({ [CULTURE]: 'fr-CA' });
    expect(await client.resolve({ tenantId: caller.tenantId }, [CULTURE, 'Not.Defined'])).toEqual({
      [CULTURE]: 'fr',
    });
  });

  it('lets a service register definitions, and gives it secrets in clear', async () => {
    const caller = aCaller();
    client.register('invoicing', [
      {
        name: TOKEN,
        description: 'for the test',
        defaultValue: 'none',
        scopes: ['tenant'],
        isVisibleToUsers: false,
        isSecret: true,
        schema: { type: 'string' },
      },
    ]);
    await eventually(async () => (await client.resolve(caller, [TOKEN]))[TOKEN] === 'none');

    await service.as(caller).put(`/settings/tenant/${TOKEN}`, { value: 'open sesame' });
    expect(await client.resolve(caller, [TOKEN])).toEqual({ [TOKEN]: 'open sesame' });
  });

  it.each([
    ['an unknown scope', { name: 'Invoicing.Mistaken', scopes: ['galaxy' as 'tenant'] }],
    ['no name', { name: ' ', scopes: ['tenant' as const] }],
  ])('tells the log of a service why a definition with %s is refused', async (_what, mistake) => {
    const lines: string[] = [];
    const log = createLog({ LOG_LEVEL: 'info' }, 'invoicing', { write: (line) => void lines.push(line) });
    const mistaken = createSettingsClient(
      { GRPC_SERVICES: { settings: address }, CALLER_KEYS: TEST_KEYS },
      log,
    );
    mistaken.register('invoicing', [
      {
        ...mistake,
        description: 'for the test',
        defaultValue: null,
        isVisibleToUsers: false,
        isSecret: false,
        schema: { type: 'string' },
      },
    ]);

    await eventually(() => lines.length > 0);
    await mistaken.close();
    expect(lines.join('')).toContain('is not usable');
  });

  it('resolves on behalf of a caller only what that caller may see, and nothing of others', async () => {
    const caller = aCaller();
    const settings = serviceClient('settings', protoPackages.settings.v1.Settings, address, TEST_KEYS);
    const namesFor = async (request: object, as = caller) =>
      (await settings.call('Resolve', { tenantId: caller.tenantId, ...request }, as)).settings.map(
        ({ name }) => name,
      );

    expect(await namesFor({ userId: caller.userId })).toContain(CULTURE);
    expect(await namesFor({ names: [TOKEN] })).toEqual([]);
    expect(await namesFor({ names: [CULTURE, CULTURE] })).toEqual([CULTURE]);
    await expect(namesFor({ userId: 'another-user' })).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(namesFor({}, aCaller())).rejects.toMatchObject({ kind: 'forbidden' });
    await settings.close();
  });

  it('is reported as overloaded by its client while it cannot be reached', async () => {
    const disconnected = createSettingsClient(
      { GRPC_SERVICES: { settings: '127.0.0.1:1' }, CALLER_KEYS: TEST_KEYS },
      silentLog(),
    );
    await expect(disconnected.resolve({ tenantId: aCaller().tenantId }, [CULTURE])).rejects.toMatchObject({
      kind: 'overloaded',
    });
    await disconnected.close();
  });

  it('refuses calls that are not signed with a key of the platform', async () => {
    const config = { GRPC_SERVICES: { settings: address }, CALLER_KEYS: ['a-key-of-another-one'] };
    const forger = createSettingsClient(config, silentLog());
    await expect(forger.resolve({ tenantId: aCaller().tenantId }, [CULTURE])).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
    await forger.close();
  });
});
