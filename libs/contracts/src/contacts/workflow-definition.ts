import type { OwnedDefinition } from '../workflow/owned-definition';

/** How a contact gets from one stage to the next; the contacts service owns the stage. */
export const contactWorkflowDefinition: OwnedDefinition = {
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
