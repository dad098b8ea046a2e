import { permissions } from '@plinth/contracts/permissions';
import { defaultRolePermissions, grantedPermissions } from './grants';

describe('the default roles', () => {
  const mayOf = (role: string) => grantedPermissions([role], [], defaultRolePermissions);

  it('let a viewer read what services store, and neither settings, internal notes nor the platform itself', () => {
    expect(mayOf('viewer')).toEqual(
      permissions.filter(
        (name) =>
          name.endsWith('.Read') &&
          ![
            'Settings.Global.Read',
            'Settings.Tenant.Read',
            'Timeline.InternalNotes.Read',
            'Platform.Operations.Read',
          ].includes(name),
      ),
    );
  });

  it.each(['viewer', 'editor', 'publisher'])('give a %s nothing of the platform itself', (role) => {
    expect(mayOf(role).filter((name) => name.startsWith('Platform.'))).toEqual([]);
  });
});
