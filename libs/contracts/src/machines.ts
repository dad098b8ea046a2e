import { contactMachine } from './contacts/machine';
import type { OwnedMachine } from './workflow/owned-machine';

/**
 * The entities whose state the service of an area keeps itself, by that area: workflow knows by this how they move and
 * whom to ask. `WORKFLOW_ENTITY_OWNERS` names further ones.
 */
export const machinesByArea: Record<string, readonly OwnedMachine[]> = { contacts: [contactMachine] };
