import { createHash, hash } from 'node:crypto';
import { Problem } from './problem';

/** Tags as a header lists them; `*` among them is any existing version. */
type Tags = readonly string[];

/** What a request makes its change depend on, by `If-Match` and `If-None-Match`; undefined where it names neither. */
export type Precondition = { ifMatch?: Tags; ifNoneMatch?: Tags } | undefined;

/**
 * Makes the strong tag of a version; quotes are part of a tag.
 * @param derived what the response shows of other resources, such as their number: the tag changes with it, as that of
 * another response must, but a change of the version that it is of is not outdated by it
 */
export const entityTag = (version: string | number, derived?: string | number): string =>
  derived === undefined ? `"${version}"` : `"${version}+${derived}"`;

/** The tag without what is derived. */
const versionOf = (tag: string): string => tag.replace(/\+.*$/s, '"');

const DIGEST_CHARACTERS = 27;

/** Makes the strong tag of a text, for what has no version. */
export function hashedEntityTag(content: string | readonly Buffer[]): string {
  const pieces = typeof content === 'string' ? [content] : content;
  // One call takes a fraction of the time of an object.
  const digest = pieces.length === 1 ? hash('sha256', pieces[0]!, 'base64url') : digestOf(pieces);
  return entityTag(digest.slice(0, DIGEST_CHARACTERS));
}

function digestOf(pieces: readonly (string | Buffer)[]): string {
  const hashing = createHash('sha256');
  for (const piece of pieces) hashing.update(piece);
  return hashing.digest('base64url');
}

/**
 * Refuses a change that is based on a stale version, whatever was derived for it, or one that must only create where
 * something is there already.
 * `current` is the tag of what is stored now, or undefined where nothing is stored.
 * @throws Problem `conflict`: the interface has no 412 for a failed precondition.
 */
export function requirePrecondition(precondition: Precondition, current: string | undefined): void {
  const { ifMatch, ifNoneMatch } = precondition ?? {};
  const isNamedBy = (tags: Tags): boolean =>
    current !== undefined && tags.some((tag) => tag === '*' || versionOf(tag) === versionOf(current));
  if (ifMatch !== undefined && !isNamedBy(ifMatch)) throw staleVersion();
  if (ifNoneMatch !== undefined && isNamedBy(ifNoneMatch)) throw staleVersion();
}

/** The resource was changed since the caller read it. */
export const staleVersion = (): Problem =>
  new Problem(
    'conflict',
    'The resource was changed since you read it; read it again and repeat your change.',
    {
      slug: 'stale-version',
      title: 'Changed meanwhile',
    },
  );
