import { ownedDefinitionsByService } from '@plinth/contracts/owned-definitions';
import {
  addressBook,
  databaseUrl,
  positiveInteger,
  serviceEnvironment,
  temporalEnvironment,
} from '@plinth/runtime/process/config';
import { z } from 'zod';

const commaSeparated = () =>
  z
    .string()
    .default('')
    .transform((list) =>
      list
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    );

/** The entity types whose definitions come with the service that owns them. */
const knownOwners = Object.entries(ownedDefinitionsByService).flatMap(([service, definitions]) =>
  definitions.map(({ entityType }) => `${entityType}=${service}`),
);

export const WorkflowConfig = z.object({
  ...serviceEnvironment,
  DATABASE_URL_WORKFLOW: databaseUrl(),
  ...temporalEnvironment,
  WORKFLOW_TASK_QUEUE: z.string().default('workflow').describe('Task queue of approval timers in Temporal.'),
  WORKFLOW_ENTITY_OWNERS: addressBook(['Template=template', ...knownOwners].join(',')).describe(
    'Services that keep the state of their entities: `EntityType=service,…`, names as in GRPC_SERVICES. All other states are kept here.',
  ),
  WORKFLOW_EXTRA_PERMISSIONS: commaSeparated().describe(
    'Permissions of your own services that definitions may ask for, beside the platform’s.',
  ),
  WORKFLOW_TENANT_MOVES_MAX: positiveInteger(10_000_000).describe(
    'Rows of history that the entities of a tenant may have together; what owners and timers do is not refused.',
  ),
  WORKFLOW_TENANT_LONG_COMMENT_BYTES_MAX: positiveInteger(10 * 1024 ** 3).describe(
    'Bytes of the transitions, requests and votes of a tenant whose comments have more than 1,024 each with type and id of the entity, which count as often as they are stored (4 times, 2 times, never); the others are bounded by the number of rows alone.',
  ),
  WORKFLOW_TENANT_APPROVERS_MAX: positiveInteger(5_000_000).describe(
    'Rows that tell who may decide the open requests of a tenant: one for each user whom a request names, and two for a permission.',
  ),
  WORKFLOW_SWEEP_SECONDS: z.coerce
    .number()
    .positive()
    .default(15)
    .describe(
      'How often Temporal’s timers are started for steps of approvals that come soon, overdue steps are performed, and requests end whose entity is gone.',
    ),
});

export type WorkflowConfig = z.output<typeof WorkflowConfig>;
