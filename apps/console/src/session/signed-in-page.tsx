import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { configurationQuery } from '../api/platform';
import { LinkButton } from '../components/link-button';
import { Callout, Skeleton } from '../components/state';
import { whenOnline } from '../components/when-online';
import { useTexts } from '../texts/texts';
import { handOver } from './other-window';
import { beginSession } from './session';

/** Where the identity provider sends people back to, with a code that becomes a token. */
export function SignedInPage() {
  const { t } = useTexts();
  const navigate = useNavigate();
  const { data: configuration } = useQuery(configurationQuery);
  const openId = configuration?.openId;
  const { data, error } = useQuery({
    queryKey: ['sign-in', location.search],
    enabled: openId !== undefined && openId !== null,
    queryFn: async () =>
      (await whenOnline(() => import('./open-id'))).finishSignIn(openId!, new URL(location.href)),
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
  });

  useEffect(() => {
    if (!data?.session) return;
    if (data.channel !== undefined) {
      handOver(data.channel, data.session);
      window.close();
      return;
    }
    beginSession(data.session);
    void navigate({ to: data.from, replace: true });
  }, [data, navigate]);

  return (
    <main className="centered">
      <div className="sign-in">
        {error || (data && !data.session) ? (
          <Callout tone="bad" title={t('Console.signIn.notFinished')}>
            <LinkButton to="/sign-in" search={{ from: data?.from, channel: data?.channel }}>
              {t('Platform.actions.signIn')}
            </LinkButton>
          </Callout>
        ) : (
          // A browser may keep the window that the identity provider was in.
          (data?.channel !== undefined && <Callout tone="good" title={t('Console.signIn.handedOver')} />) || (
            <Skeleton />
          )
        )}
      </div>
    </main>
  );
}
