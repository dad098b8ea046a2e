import type { Definition } from '../domain/definition';
import { transition } from './transition';

const DAY_SECONDS = 86_400;

/** A sample to start from: an invoice that somebody else must approve before it is paid. */
export const invoiceMachine: Definition = {
  entityType: 'Invoice',
  initialState: 'Draft',
  states: ['Draft', 'Submitted', 'Approved', 'Paid', 'Cancelled'],
  finalStates: ['Paid', 'Cancelled'],
  transitions: [
    transition('Submit', 'Draft', 'Submitted'),
    transition('Return', 'Submitted', 'Draft'),
    transition('Approve', 'Submitted', 'Approved', {
      requiresApproval: true,
      approvers: { permission: 'Workflow.Transitions.Approve', users: [], mode: 'Any', count: null },
      timers: {
        remindAfterSeconds: DAY_SECONDS,
        escalateAfterSeconds: null,
        escalateTo: null,
        expireAfterSeconds: 14 * DAY_SECONDS,
      },
    }),
    transition('Pay', 'Approved', 'Paid'),
    transition('Cancel', 'Draft', 'Cancelled'),
    transition('Cancel', 'Submitted', 'Cancelled'),
  ],
};
