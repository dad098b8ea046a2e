/** A backend holds what it prepared until its connection ends, so there is a limit. */
const NAMES_MAX = 300;
const nameByText = new Map<string, string>();

/**
 * The name under which connections prepare a statement, so that Postgres parses it once on each connection; undefined
 * where there are too many already, as there would be with statements whose text contains values or lists.
 */
export function statementName(text: string): string | undefined {
  const known = nameByText.get(text);
  if (known !== undefined || nameByText.size >= NAMES_MAX) return known;
  const name = `plinth_${nameByText.size + 1}`;
  nameByText.set(text, name);
  return name;
}
