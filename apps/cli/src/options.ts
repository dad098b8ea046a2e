import type { Command } from 'commander';
import { CommandError } from './exit-codes';

/** Of an option that may be given several times. */
export const collect = (value: string, former: string[] = []): string[] => [...former, value];

/** A command about one entity, whose type and id are its first arguments. */
export const entityCommand = (parent: Command, name: string): Command =>
  parent.command(`${name} <entity-type> <entity-id>`);

/** The parts of `name=value`, split at the last `=` where names may hold one. @throws CommandError without a name */
export function pairOf(option: string, text: string, at = text.indexOf('=')): [string, string] {
  if (at < 1) throw new CommandError(`${option} takes name=value, not "${text}".`);
  return [text.slice(0, at), text.slice(at + 1)];
}
