import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { aCaller } from '@plinth/testing/http';
import { widerPermissionOf } from './definition';

describe('widerPermissionOf, the permission to read the file of an export', () => {
  const wider = 'Settings.Global.Read';
  const inTenant = { widerPermission: wider, widerOnHostOnly: false };
  const onHost = { widerPermission: wider, widerOnHostOnly: true };

  it.each([
    [
      'is the wider one where the exporter sees more rows with it',
      inTenant,
      aCaller({ permissions: [wider] }),
      wider,
    ],
    ['is null where the exporter sees what all see', inTenant, aCaller({ permissions: [] }), null],
    ['is null where all see the same', { ...inTenant, widerPermission: null }, aCaller(), null],
    ['is the wider one in the host tenant', onHost, aCaller({ tenantId: HOST_TENANT_ID }), wider],
    ['is null in other tenants where it counts in the host tenant only', onHost, aCaller(), null],
  ])('%s', (_promise, definition, caller, expected) => {
    expect(widerPermissionOf(definition, caller)).toBe(expected);
  });
});
