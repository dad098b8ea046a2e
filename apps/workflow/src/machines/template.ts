import type { Definition } from '../domain/definition';
import { transition } from './transition';

/** The lifecycle of templates. Their service keeps the state; it also publishes and archives. */
export const templateMachine: Definition = {
  entityType: 'Template',
  initialState: 'Draft',
  states: ['Draft', 'PendingReview', 'Published', 'Archived'],
  finalStates: ['Archived'],
  transitions: [
    transition('Submit', 'Draft', 'PendingReview', { permission: 'Templating.Templates.Manage' }),
    // Whoever submitted it may take it back, and whoever reviews it may return it.
    transition('Return', 'PendingReview', 'Draft'),
    transition('Publish', 'PendingReview', 'Published', { permission: 'Templating.Templates.Publish' }),
    transition('Unpublish', 'Published', 'Draft', { permission: 'Templating.Templates.Publish' }),
    transition('Archive', 'Published', 'Archived', { permission: 'Templating.Templates.Publish' }),
  ],
};
