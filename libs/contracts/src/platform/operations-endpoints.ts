import { endpoint, permission } from '../endpoint';
import {
  DEAD_LETTERS_MAX,
  DeadLetters,
  PlatformOperations,
  ReplayDeadLettersRequest,
  ReplayedDeadLetters,
} from './operations-shapes';

const read = permission('Platform.Operations.Read', { hostOnly: true });
const manage = permission('Platform.Operations.Manage', { hostOnly: true });

/** For the operators of the platform, who see all tenants. */
export const operationsEndpoints = {
  getOperations: endpoint({
    method: 'GET',
    path: '/operations',
    summary: 'Read how the platform is: its services, queues, limits and requests',
    description: 'Figures of requests are those of the gateway that responds, since it started.',
    access: read,
    success: { status: 200, body: PlatformOperations },
    cache: 'none',
  }),
  listDeadLetters: endpoint({
    method: 'GET',
    path: '/operations/dead-letters',
    summary: 'List the events that services could not process, of all tenants',
    access: read,
    success: { status: 200, body: DeadLetters },
    cache: 'none',
  }),
  replayDeadLetters: endpoint({
    method: 'POST',
    path: '/operations/dead-letters/replay',
    summary: 'Process dead letters again',
    description: `The service processes them at once, one of them or the oldest ${DEAD_LETTERS_MAX}. What fails again stays.`,
    access: manage,
    body: ReplayDeadLettersRequest,
    success: { status: 200, body: ReplayedDeadLetters },
  }),
};
