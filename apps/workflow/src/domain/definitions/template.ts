import type { Definition } from '../definition';
import { builtInTransition } from './transition';

/** The lifecycle of templates. Their service owns the state; it also publishes and archives. */
export const templateDefinition: Definition = {
  entityType: 'Template',
  initialState: 'Draft',
  states: ['Draft', 'PendingReview', 'Published', 'Archived'],
  finalStates: ['Archived'],
  transitions: [
    builtInTransition('Submit', 'Draft', 'PendingReview', { permission: 'Templating.Templates.Manage' }),
    // Without a permission: the author may withdraw it, and a reviewer may return it.
    builtInTransition('Return', 'PendingReview', 'Draft'),
    builtInTransition('Publish', 'PendingReview', 'Published', {
      permission: 'Templating.Templates.Publish',
    }),
    builtInTransition('Unpublish', 'Published', 'Draft', { permission: 'Templating.Templates.Publish' }),
    builtInTransition('Archive', 'Published', 'Archived', { permission: 'Templating.Templates.Publish' }),
  ],
};
