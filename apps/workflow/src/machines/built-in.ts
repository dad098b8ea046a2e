import type { Definition } from '../domain/definition';
import { invoiceMachine } from './invoice';
import { templateMachine } from './template';

/** The definitions that the platform is delivered with, by entity type. */
export const builtInDefinitions: ReadonlyMap<string, Definition> = new Map(
  [templateMachine, invoiceMachine].map((machine) => [machine.entityType, machine]),
);
