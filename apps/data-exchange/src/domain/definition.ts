import { ID_PROPERTY } from '@plinth/exchange/definition';
import type { Caller } from '@plinth/kernel/caller';
import { holds, isOfHost } from '@plinth/kernel/caller';
import type { ListRules } from '@plinth/kernel/list-query';
import { permissionMissing, secretsOfSomebodyElse } from './problems';

/** The header of the column that an export adds and an import finds rows by. */
export const ID_HEADER = 'Id';

export interface DefinitionField {
  propertyPath: string;
  type: string;
  header: string;
  description: string;
  format: string;
  required: boolean;
  readOnly: boolean;
  aliases: readonly string[];
  synonyms: readonly string[];
  isNavigation: boolean;
  isSecret: boolean;
}

/** What can be exported and imported, as its data owner describes it. */
export interface Definition {
  name: string;
  entityType: string;
  permission: string;
  /** Callers who hold it see more rows than others; null where all see the same. */
  widerPermission: string | null;
  widerOnHostOnly: boolean;
  importable: boolean;
  exportable: boolean;
  fields: readonly DefinitionField[];
  listRules: ListRules;
  /** Ranges of a file may be imported at the same time. */
  rowsAreIndependent: boolean;
  undoable: boolean;
  /** Name of the service that owns the data. */
  owner: string;
}

const clrTypeNames: Record<string, string> = {
  string: 'String',
  integer: 'Int64',
  number: 'Decimal',
  boolean: 'Boolean',
  timestamp: 'DateTimeOffset',
  date: 'DateOnly',
  uuid: 'Guid',
  enum: 'String',
};

export const clrTypeName = ({ type }: Pick<DefinitionField, 'type'>): string =>
  clrTypeNames[type] ?? 'String';

const idField: DefinitionField = {
  propertyPath: ID_PROPERTY,
  type: 'uuid',
  header: ID_HEADER,
  description: 'The id that an export with includeIdForImport wrote; it finds the row whatever else changed',
  format: '',
  required: false,
  readOnly: false,
  aliases: [],
  synonyms: [],
  isNavigation: false,
  isSecret: false,
};

/** The fields that a column of a file can be mapped to. */
export const importableFields = ({ fields }: Definition): DefinitionField[] => [
  ...fields.filter(({ readOnly }) => !readOnly),
  idField,
];

/** To see or change rows also needs the permission that the definition names. */
export function requirePermission(caller: Caller, permission: string): void {
  if (!holds(caller, permission)) throw permissionMissing(permission);
}

/** What is in the file of a job is for callers who see as much as whoever uploaded or exported it. */
export function requireSight(
  caller: Caller,
  { permission, widerPermission }: { permission: string; widerPermission: string | null },
): void {
  requirePermission(caller, permission);
  if (widerPermission !== null) requirePermission(caller, widerPermission);
}

export const hasSecrets = ({ fields }: Pick<Definition, 'fields'>): boolean =>
  fields.some(({ isSecret }) => isSecret);

/**
 * Who says how a file is read and which of its columns is which, of one that may have secrets, is whoever uploaded it: others
 * are shown what is in the columns of other fields, and in headers.
 */
export function requireOwnSecrets(
  { userId }: Caller,
  { createdBy }: { createdBy: string },
  definition: Pick<Definition, 'fields'>,
): void {
  if (createdBy !== userId && hasSecrets(definition)) throw secretsOfSomebodyElse();
}

/** The permission to see the file of this caller's import or export, beside the one for the rows that all callers see. */
export function widerPermissionOf(
  { widerPermission, widerOnHostOnly }: Pick<Definition, 'widerPermission' | 'widerOnHostOnly'>,
  caller: Caller,
): string | null {
  if (widerPermission === null || !holds(caller, widerPermission)) return null;
  return widerOnHostOnly && !isOfHost(caller) ? null : widerPermission;
}

/** The caller as a job stores it: what outlives the request. */
export const jobCaller = ({ tenantId, tenantName, userId, userName, permissions }: Caller): Caller => ({
  tenantId,
  ...(tenantName === undefined ? {} : { tenantName }),
  userId,
  userName,
  permissions: [...permissions],
});
