import type { Texts } from '../texts/texts';

/** What people call a definition; those of a team's own service are called by their name. */
export const definitionName = ({ find }: Texts, name: string): string =>
  find(`Console.definitions.${name}`) ?? name.replace('.', ' · ');

const serviceOf = (definition: string): string => definition.split('.', 1)[0]!;

/** What people call a field of a definition; one of a team's own service is called as that calls it. */
export const fieldName = ({ find }: Texts, definition: string, path: string, otherwise: string): string =>
  find(`Console.fields.${serviceOf(definition)}.${path}`) ?? otherwise;

export const fieldHelp = (
  { find }: Texts,
  definition: string,
  path: string,
  otherwise: string | null,
): string | undefined => find(`Console.fieldHelp.${serviceOf(definition)}.${path}`) ?? otherwise ?? undefined;
