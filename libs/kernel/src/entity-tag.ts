import { Problem } from './problem';

/** The `If-Match` of a request: a list of strong tags, `*` for anything that exists, or nothing asked. */
export type IfMatch = readonly string[] | '*' | undefined;

/** Makes the strong tag of a version; quotes are part of a tag. */
export const entityTag = (version: string | number): string => `"${version}"`;

/**
 * Stops a change made on the ground of a stale reading.
 * `current` is the tag of what is stored now, or undefined where nothing is stored.
 * @throws Problem `conflict`: the interface has no 412 (silences, row 12).
 */
export function requireMatch(ifMatch: IfMatch, current: string | undefined): void {
  if (ifMatch === undefined) return;
  const matches =
    ifMatch === '*' ? current !== undefined : current !== undefined && ifMatch.includes(current);
  if (!matches) throw staleVersion();
}

/** What somebody wants to change was changed by someone else meanwhile. */
export const staleVersion = (): Problem =>
  new Problem('conflict', 'It was changed since you read it; read it again and repeat your change.', {
    slug: 'stale-version',
    title: 'Changed meanwhile',
  });
