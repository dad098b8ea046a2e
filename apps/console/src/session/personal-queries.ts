import type { Query } from '@tanstack/react-query';

/** What is the same for everybody. */
const publicQueries = ['texts', 'configuration'];

/** What was read for somebody, and is gone when they are. */
export const personalQueries = {
  predicate: ({ queryKey }: Query): boolean => !publicQueries.includes(String(queryKey[0])),
};
