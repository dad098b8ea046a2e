import type { z } from 'zod';
import type { SaveWorkflowDefinitionRequest } from './shapes';

/** How entities of one type move whose state their own service keeps, as somebody would define it over HTTP. */
export type OwnedMachine = z.input<typeof SaveWorkflowDefinitionRequest> & { entityType: string };
