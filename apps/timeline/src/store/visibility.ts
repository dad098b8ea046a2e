import type { Audience } from '../domain/audience';

/** The condition on everything that has an `internal` column: an audience without notes gets only the rest. */
export const visibleTo = ({ seesInternal }: Audience) => (seesInternal ? {} : { internal: false });

/** The same as SQL over a table with that column; undefined where nothing is hidden. */
export const visibleSql = ({ seesInternal }: Audience): string | undefined =>
  seesInternal ? undefined : 'NOT internal';
