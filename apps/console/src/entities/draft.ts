import type { Suggestion } from '../api/timeline';

/** What is written and not sent: a reload, or a look at another page, does not lose it. */
export interface Draft {
  body: string;
  people: readonly Suggestion[];
  files: readonly Attached[];
  isNote: boolean;
  /** The request that may have arrived: the same is sent again under its key, also after a reload. */
  sent?: { request: string; idempotencyKey: string } | undefined;
}

export interface Attached {
  id: string;
  fileName: string;
}

/** What is left once an entry was posted: what was typed, attached and chosen meanwhile is for the next one. */
export function draftAfter(former: Draft, posted: Pick<Draft, 'body' | 'files'>, empty: Draft): Draft {
  const isAnother = former.body !== posted.body;
  return {
    ...empty,
    body: isAnother ? former.body : '',
    people: isAnother ? former.people : [],
    files: former.files.filter(({ id }) => posted.files.every((file) => file.id !== id)),
    isNote: former.isNote,
  };
}
