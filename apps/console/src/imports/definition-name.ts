import type { Texts } from '../texts/texts';

/** What people call a definition; those of a team's own service are called by their name. */
export function definitionName({ t, has }: Texts, name: string): string {
  const key = `Console.definitions.${name}`;
  return has(key) ? t(key) : name.replace('.', ' · ');
}
