/** The cultures to look in, nearest first: `fr-CA`, `fr`, none. */
export function fallbackOf(culture: string | undefined): (string | undefined)[] {
  if (!culture) return [undefined];
  const parts = culture.split('-');
  return [...parts.map((_, index) => parts.slice(0, parts.length - index).join('-')), undefined];
}
