import { permissions } from '@plinth/contracts/permissions';

/** The permissions of each role; `*` stands for all. */
export type RolePermissions = Readonly<Record<string, readonly string[]>>;

/** What a viewer may not read: settings and operations are for administrators, internal notes for staff. */
const notForEveryReader = /^(Settings|Platform|Timeline\.InternalNotes)\./;

const reading = permissions.filter((name) => name.endsWith('.Read') && !notForEveryReader.test(name));

const writing = [
  'Templating.Templates.Manage',
  'Templating.Categories.Manage',
  'Localization.Overrides.Manage',
  'DataExchange.Exports.Execute',
  'DataExchange.Imports.Execute',
  'Timeline.Entries.Create',
  'Timeline.InternalNotes.Read',
  'Timeline.InternalNotes.Create',
  'Workflow.Transitions.Execute',
] as const;

/** The roles of a platform that configures none. `admin` has all permissions in every configuration. */
export const defaultRolePermissions: RolePermissions = {
  viewer: reading,
  editor: [...reading, ...writing],
  publisher: [...reading, ...writing, 'Templating.Templates.Publish', 'Workflow.Transitions.Approve'],
};

/** All permissions of these roles, together with those that the token names. */
export function grantedPermissions(
  roles: readonly string[],
  named: readonly string[],
  rolePermissions: RolePermissions,
): string[] {
  if (roles.includes('admin')) return ['*'];
  const byRoles = roles.flatMap((role) =>
    Object.hasOwn(rolePermissions, role) ? rolePermissions[role]! : [],
  );
  return [...new Set([...byRoles, ...named])];
}
