import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { aCaller } from '@plinth/testing/http';
import { widerPermissionOf } from './definition';

describe('the permission that an export asks of those who read its file', () => {
  const wider = 'Settings.Global.Read';
  const inTenant = { widerPermission: wider, widerOnHostOnly: false };
  const onHost = { widerPermission: wider, widerOnHostOnly: true };

  it.each([
    ['is the wider one where its maker sees more by it', inTenant, aCaller({ permissions: [wider] }), wider],
    ['is none more where its maker sees what all see', inTenant, aCaller({ permissions: [] }), null],
    ['is none more where all see the same', { ...inTenant, widerPermission: null }, aCaller(), null],
    ['counts on the host', onHost, aCaller({ tenantId: HOST_TENANT_ID }), wider],
    ['counts nowhere else where it shows more on the host only', onHost, aCaller(), null],
  ])('%s', (_promise, definition, caller, expected) => {
    expect(widerPermissionOf(definition, caller)).toBe(expected);
  });
});
