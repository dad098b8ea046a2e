/** The resources whose texts the console shows; those of a tenant's other programs may be many. */
export const resourceNames = [
  'Console',
  'DataExchange',
  'Localization',
  'Permissions',
  'Platform',
  'Problems',
  'Settings',
  'Templating',
  'Timeline',
  'Workflow',
] as const;

/** The query by which the console reads its texts. */
export const textsSelection = (culture: string | undefined, tenant: string | undefined) => ({
  resourceNames: resourceNames.join(','),
  ...(culture ? { cultureName: culture } : {}),
  ...(tenant ? { tenant } : {}),
});
