import type { Texts } from '../texts/texts';

/** What people call a definition; those of a team's own service are called by their name. */
export const definitionName = ({ find }: Texts, name: string): string =>
  find(`Console.definitions.${name}`) ?? name.replace('.', ' · ');
