import type { OwnedMachine } from '../workflow/owned-machine';

/** How a contact gets from one stage to the next; the contacts service keeps the stage. */
export const contactMachine: OwnedMachine = {
  entityType: 'Contact',
  initialState: 'Prospect',
  states: ['Prospect', 'Active', 'Archived'],
  finalStates: ['Archived'],
  transitions: [
    { name: 'Activate', from: 'Prospect', to: 'Active', permission: 'Contacts.Contacts.Manage' },
    { name: 'Archive', from: 'Prospect', to: 'Archived', permission: 'Contacts.Contacts.Manage' },
    { name: 'Archive', from: 'Active', to: 'Archived', permission: 'Contacts.Contacts.Manage' },
    {
      name: 'Restore',
      from: 'Archived',
      to: 'Prospect',
      permission: 'Contacts.Contacts.Manage',
      requiresApproval: true,
      approvers: { permission: 'Workflow.Transitions.Approve' },
    },
  ],
};
