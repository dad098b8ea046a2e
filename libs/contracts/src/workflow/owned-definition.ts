import type { z } from 'zod';
import type { SaveWorkflowDefinitionRequest } from './shapes';

/** The workflow definition of an entity type whose state its own service owns, in the shape that `PUT` accepts. */
export type OwnedDefinition = z.input<typeof SaveWorkflowDefinitionRequest> & { entityType: string };
