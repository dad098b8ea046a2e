import { machinesByArea } from '@plinth/contracts/machines';
import { addressBook, databaseUrl, serviceEnvironment } from '@plinth/runtime/config';
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

/** The services that bring definitions of their own entities along. */
const knownOwners = Object.entries(machinesByArea).flatMap(([area, machines]) =>
  machines.map(({ entityType }) => `${entityType}=${area}`),
);

export const WorkflowConfig = z.object({
  ...serviceEnvironment,
  DATABASE_URL_WORKFLOW: databaseUrl(),
  TEMPORAL_ADDRESS: z.string().default('127.0.0.1:7233').describe('Temporal server.'),
  TEMPORAL_NAMESPACE: z.string().default('default').describe('Namespace of this platform in Temporal.'),
  WORKFLOW_TASK_QUEUE: z.string().default('workflow').describe('Task queue of approval timers in Temporal.'),
  WORKFLOW_ENTITY_OWNERS: addressBook(['Template=template', ...knownOwners].join(',')).describe(
    'Services that keep the state of their entities: `EntityType=service,…`, names as in GRPC_SERVICES. All other states are kept here.',
  ),
  WORKFLOW_EXTRA_PERMISSIONS: commaSeparated().describe(
    'Permissions of your own services that definitions may ask for, beside the platform’s.',
  ),
  WORKFLOW_SWEEP_SECONDS: z.coerce
    .number()
    .positive()
    .default(5)
    .describe(
      'How often overdue reminders, escalations and expiries are looked for, beside Temporal’s timers.',
    ),
});

export type WorkflowConfig = z.output<typeof WorkflowConfig>;
