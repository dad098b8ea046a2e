import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { configurationQuery } from '../api/platform';
import { announceSignOut, currentSession, endSession } from '../session/session';

/** What stays when somebody leaves: it is the same for everybody. */
const publicQueries = ['texts', 'configuration'];

/** The way out, which takes everything of the person along. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    const idToken = currentSession()?.idToken;
    await navigate({ to: '/sign-in', search: {} });
    announceSignOut();
    endSession();
    queries.removeQueries({ predicate: ({ queryKey }) => !publicQueries.includes(String(queryKey[0])) });
    if (idToken === undefined) return;
    const [{ openId }, { signOutAtProvider }] = await Promise.all([
      queries.ensureQueryData(configurationQuery),
      import('../session/open-id'),
    ]);
    // Here they are signed out already, also where the provider is away.
    if (openId) await signOutAtProvider(openId, idToken).catch(() => undefined);
  };
}
