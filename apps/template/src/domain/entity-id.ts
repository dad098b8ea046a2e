import { canonicalCulture } from '@plinth/contracts/schemas';
import type { TemplateKey } from './template-key';

/** The type under which the workflow service knows templates. */
export const TEMPLATE_ENTITY_TYPE = 'Template';

/** `name` or `name~culture`: the entity id of a template in the workflow service. */
export const entityIdOf = ({ name, culture }: TemplateKey): string => (culture ? `${name}~${culture}` : name);

/** A name contains no tilde, so the first one ends it. */
export function keyOfEntity(entityId: string): TemplateKey {
  const [name = '', culture] = entityId.split('~', 2);
  return {
    name: name.normalize('NFC'),
    culture: culture ? (canonicalCulture(culture) ?? culture) : undefined,
  };
}
