import { workflowProblems } from '@plinth/contracts/workflow/problems';
import { validationCode } from '@plinth/kernel/problem';
import { builtInDefinitions } from '../machines/built-in';
import { faultsOf, type Definition, type Fault } from './definition';

/**
 * Refuses a definition that cannot work.
 * @throws Problem `invalid`: `errors` says where, `faults` says everything in sentences.
 */
export function requireSound(
  definition: Definition,
  options: {
    bodyEntityType: string | undefined;
    finalStatesGiven: boolean;
    knownPermissions: readonly string[];
    /** Another service keeps the state of these entities. */
    hasOwner: boolean;
  },
): void {
  const faults = [
    ...faultsOfType(definition, options.bodyEntityType),
    ...(options.hasOwner ? faultsOfOwnedStates(definition) : []),
    ...faultsOf(definition, options),
  ];
  if (faults.length === 0) return;
  const errors: Record<string, string[]> = {};
  for (const { path, rule } of faults) (errors[path] ??= []).push(validationCode(rule));
  throw workflowProblems['workflow-definition-unsound'](faults.map(({ message }) => message).join(' '), {
    errors,
    extensions: { faults: faults.map(({ message }) => message) },
  });
}

const faultsOfType = ({ entityType }: Definition, inBody: string | undefined): Fault[] =>
  inBody === undefined || inBody === entityType
    ? []
    : [
        {
          path: 'entityType',
          rule: 'Immutable',
          message: `The address says "${entityType}", the body "${inBody}".`,
        },
      ];

/** The owner knows these states and no others. */
function faultsOfOwnedStates({ entityType, states, initialState }: Definition): Fault[] {
  const builtIn = builtInDefinitions.get(entityType);
  if (!builtIn) return [];
  const same =
    states.length === builtIn.states.length && builtIn.states.every((state) => states.includes(state));
  if (same && initialState === builtIn.initialState) return [];
  const message = `The states of ${entityType} are kept by its service: ${builtIn.states.join(', ')}, first ${builtIn.initialState}.`;
  return [{ path: 'states', rule: 'Immutable', message }];
}
