import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { configurationQuery } from '../api/platform';
import { forgetKept } from '../components/stored-state';
import { personalQueries } from '../session/personal-queries';
import { announceSignOut, endSession, idTokenOfPerson } from '../session/session';

/** The way out, which takes everything of the person along. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    const idToken = idTokenOfPerson();
    await navigate({ to: '/sign-in', search: {} });
    announceSignOut();
    endSession();
    forgetKept();
    queries.removeQueries(personalQueries);
    if (idToken === undefined) return;
    const [{ openId }, { signOutAtProvider }] = await Promise.all([
      queries.ensureQueryData(configurationQuery),
      import('../session/open-id'),
    ]);
    // Here they are signed out already, also where the provider is away.
    if (openId) await signOutAtProvider(openId, idToken).catch(() => undefined);
  };
}
