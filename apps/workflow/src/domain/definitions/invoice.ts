import type { Definition } from '../definition';
import { builtInTransition } from './transition';

const DAY_SECONDS = 86_400;

/** A sample to start from: an invoice that another user must approve before it is paid. */
export const invoiceDefinition: Definition = {
  entityType: 'Invoice',
  initialState: 'Draft',
  states: ['Draft', 'Submitted', 'Approved', 'Paid', 'Cancelled'],
  finalStates: ['Paid', 'Cancelled'],
  transitions: [
    builtInTransition('Submit', 'Draft', 'Submitted'),
    builtInTransition('Return', 'Submitted', 'Draft'),
    builtInTransition('Approve', 'Submitted', 'Approved', {
      requiresApproval: true,
      approvers: { permission: 'Workflow.Transitions.Approve', users: [], mode: 'Any', count: null },
      timers: {
        remindAfterSeconds: DAY_SECONDS,
        escalateAfterSeconds: null,
        escalateTo: null,
        expireAfterSeconds: 14 * DAY_SECONDS,
      },
    }),
    builtInTransition('Pay', 'Approved', 'Paid'),
    builtInTransition('Cancel', 'Draft', 'Cancelled'),
    builtInTransition('Cancel', 'Submitted', 'Cancelled'),
  ],
};
