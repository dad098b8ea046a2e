import { useState } from 'react';

interface Asked {
  error: Error | null;
  isPending: boolean;
  errorUpdateCount: number;
}

/**
 * What is to be said of something that is asked for. A failure stays until there is something else to say: of what is
 * asked again every few seconds it would come and go.
 */
export function useShownError({ error, isPending, errorUpdateCount }: Asked): Error | null {
  const [last, setLast] = useState(error);
  if (error && error !== last) setLast(error);
  // Without data it is as if it was asked first. Of something else it never failed.
  return error ?? (isPending && errorUpdateCount > 0 ? last : null);
}
