import type { Texts } from '../texts/texts';

/** The platform's states have names in every language; those of a tenant are called as the tenant called them. */
export function stateName({ t, has }: Texts, state: string): string {
  const key = `Workflow.states.${state}`;
  return has(key) ? t(key) : state;
}
