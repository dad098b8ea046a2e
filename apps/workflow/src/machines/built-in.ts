import { machinesByArea } from '@plinth/contracts/machines';
import { SaveWorkflowDefinitionRequest } from '@plinth/contracts/workflow/shapes';
import { toDefinition, type Definition } from '../domain/definition';
import { invoiceMachine } from './invoice';
import { templateMachine } from './template';

/** What services bring along whose entities keep their state themselves. */
const owned = Object.values(machinesByArea)
  .flat()
  .map((machine) => toDefinition(machine.entityType, SaveWorkflowDefinitionRequest.parse(machine)));

/** The definitions that the platform is delivered with, by entity type. */
export const builtInDefinitions: ReadonlyMap<string, Definition> = new Map(
  [templateMachine, invoiceMachine, ...owned].map((machine) => [machine.entityType, machine]),
);
