import type { Texts } from '../texts/texts';

const nameIn =
  (group: 'states' | 'transitions') =>
  ({ find }: Texts, name: string): string =>
    find(`Workflow.${group}.${name}`) ?? name;

/** The platform's states have names in every language; those of a tenant are called as the tenant called them. */
export const stateName = nameIn('states');

/** The same for transitions. */
export const transitionName = nameIn('transitions');
