import type { TemplateVariable } from '@plinth/contracts/template/shapes';

/** The variables that every template has. */
export const globalVariables: TemplateVariable[] = [
  { name: 'now', type: 'date', description: 'The moment of rendering', example: '2026-11-21T10:00:00.000Z' },
  { name: 'culture', type: 'string', description: 'The culture of the rendering', example: 'fr-CA' },
  { name: 'tenant.id', type: 'string', description: 'Id of the tenant' },
  { name: 'tenant.name', type: 'string', description: 'Name of the tenant' },
  { name: 'user.id', type: 'string', description: 'Id of the person who renders' },
  {
    name: 'user.name',
    type: 'string',
    description: 'Name of the person who renders',
    example: 'Ada Lovelace',
  },
];
