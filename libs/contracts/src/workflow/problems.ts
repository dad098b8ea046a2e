import { defineProblems } from '@plinth/kernel/problem';

/** The problems of the workflow service, beside the general ones. */
export const workflowProblems = defineProblems({
  'entity-type-unknown': {
    kind: 'not-found',
    title: 'Unknown entity type',
    explanation:
      'No workflow is defined for this entity type. GET /workflow/definitions lists those that are.',
  },
  'workflow-definition-unsound': {
    kind: 'invalid',
    title: 'One or more validation errors occurred.',
    explanation:
      'The definition names states that cannot be reached or never left, permissions that do not exist, or approvers who could never agree. `faults` lists all errors in sentences, `errors` says where.',
  },
  'workflow-definition-strands-entities': {
    kind: 'conflict',
    title: 'Entities would be stranded',
    explanation:
      'Entities are in a state that the definition does not have any more, or wait for an approval that leads there. Move them first; `strandedStates` says where they are.',
  },
  'delegation-not-found': {
    kind: 'not-found',
    title: 'Delegation not found',
    explanation: 'There is no delegation of this id that you gave or received. It may have been withdrawn.',
  },
});
