import { contactWorkflowDefinition } from './contacts/workflow-definition';
import type { OwnedDefinition } from './workflow/owned-definition';

/**
 * The workflow definitions of entities whose state their own service owns, by that service: workflow learns from this
 * how they move and which service to call. `WORKFLOW_ENTITY_OWNERS` names further ones.
 */
export const ownedDefinitionsByService: Record<string, readonly OwnedDefinition[]> = {
  contacts: [contactWorkflowDefinition],
};
