import { canonicalCulture } from '@plinth/contracts/schemas';
import { composed } from '@plinth/kernel/composed';
import type { TemplateKey } from './template-key';

/** The type under which the workflow service knows templates. */
export const TEMPLATE_ENTITY_TYPE = 'Template';

/** `name` or `name~culture`: the entity id of a template in the workflow service. */
export const entityIdOf = ({ name, culture }: TemplateKey): string => (culture ? `${name}~${culture}` : name);

/**
 * The template with this entity id. Other spellings (`a~FR` for `a~fr`) are no ids of it: its approvals and its history
 * would be those of several entities. A name contains no tilde, so the first one ends it.
 */
export function keyOfEntity(entityId: string): TemplateKey | undefined {
  const [name = '', culture = ''] = entityId.split('~', 2);
  const key = { name: composed(name) ?? name, culture: canonicalCulture(culture) };
  return entityIdOf(key) === entityId ? key : undefined;
}
