import { platformProblems, quotaExceeded } from '@plinth/contracts/platform/problems';
import { workflowProblems } from '@plinth/contracts/workflow/problems';
import {
  DELEGATIONS_GIVEN_MAX,
  DELEGATIONS_RECEIVED_MAX,
  OWN_DEFINITION_BYTES_MAX,
  OWN_DEFINITIONS_MAX,
} from '@plinth/contracts/workflow/shapes';
import { forbidden, invalid, unavailable, validationCode, type ValidationRule } from '@plinth/kernel/problem';
import type { DefinitionError } from './definition';

export const tooManyDelegations = (used: number) =>
  quotaExceeded({
    quota: 'workflow-delegations',
    what: 'delegations that are not over',
    limit: DELEGATIONS_GIVEN_MAX,
    used,
    scope: 'user',
  });

export const tooManyDelegationsReceived = (used: number) =>
  quotaExceeded({
    quota: 'workflow-delegations-received',
    what: 'delegations to this user that are not over',
    limit: DELEGATIONS_RECEIVED_MAX,
    used,
    scope: 'user',
  });

export const tooManyDefinitions = (used: number) =>
  quotaExceeded({
    quota: 'workflow-definitions',
    what: 'workflow definitions of its own',
    limit: OWN_DEFINITIONS_MAX,
    used,
  });

export const definitionsTooLarge = (used: number) =>
  quotaExceeded({
    quota: 'workflow-definition-bytes',
    what: 'bytes of other workflow definitions of its own',
    limit: OWN_DEFINITION_BYTES_MAX,
    used,
  });

export const entityTypeUnknown = (entityType: string) =>
  workflowProblems['entity-type-unknown'](`No workflow is defined for the entity type "${entityType}".`);

export const definitionNotFound = (entityType: string) =>
  workflowProblems['entity-type-unknown'](`There is no such definition for the entity type "${entityType}".`);

export function definitionUnsound(definitionErrors: readonly DefinitionError[]) {
  const errors: Record<string, string[]> = {};
  for (const { path, rule } of definitionErrors) (errors[path] ??= []).push(validationCode(rule));
  const sentences = definitionErrors.map(({ message }) => message);
  return workflowProblems['workflow-definition-unsound'](sentences.join(' '), {
    errors,
    extensions: { faults: sentences },
  });
}

export function definitionStrandsEntities(entityType: string, strandedStates: ReadonlyMap<string, number>) {
  const states = [...strandedStates].map(([state, entities]) => `${state} (${entities})`).join(', ');
  return workflowProblems['workflow-definition-strands-entities'](
    `Entities of ${entityType} are in states that the definition does not have: ${states}.`,
    { extensions: { strandedStates: Object.fromEntries(strandedStates) } },
  );
}

export const delegationNotForKeys = () =>
  platformProblems['api-key-not-for-keys']('An API key cannot let another user approve.');

export const delegationInvalid = (errors: Record<string, ValidationRule>, daysMax: number) =>
  invalid(
    errors,
    `Delegate to another user, from at most ${daysMax} days ahead, and until a time in the future at most ${daysMax} days after the start.`,
  );

export const delegationNotFound = (id: string) =>
  workflowProblems['delegation-not-found'](`There is no delegation ${id}.`);

export const delegationOfOther = () => forbidden('Only the user who gave a delegation may withdraw it.');

export const entityChangedTooOften = () =>
  unavailable('The entity is changed too often at the moment; try again.');

export const ownerResponseUnknown = (service: string) =>
  unavailable(`The response of the service ${service} is not known to this version.`);
