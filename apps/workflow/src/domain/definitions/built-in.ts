import { ownedDefinitionsByService } from '@plinth/contracts/owned-definitions';
import { SaveWorkflowDefinitionRequest } from '@plinth/contracts/workflow/shapes';
import { toDefinition, type Definition } from '../definition';
import { invoiceDefinition } from './invoice';
import { templateDefinition } from './template';

/** The definitions of the services that own the state of their entities. */
const owned = Object.values(ownedDefinitionsByService)
  .flat()
  .map((definition) => toDefinition(definition.entityType, SaveWorkflowDefinitionRequest.parse(definition)));

/** The definitions that the platform is delivered with, by entity type. */
export const builtInDefinitions: ReadonlyMap<string, Definition> = new Map(
  [templateDefinition, invoiceDefinition, ...owned].map((definition) => [definition.entityType, definition]),
);
