import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { endSession } from '../session/session';

/** What stays when somebody leaves: it is the same for everybody. */
const publicQueries = ['texts', 'configuration'];

/** The way out, which takes everything of the person along. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    await navigate({ to: '/sign-in', search: {} });
    endSession();
    queries.removeQueries({ predicate: ({ queryKey }) => !publicQueries.includes(String(queryKey[0])) });
  };
}
