import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { configurationQuery } from '../api/platform';
import { Button } from '../components/button';
import { Brand, Avatar } from '../components/brand';
import { Callout, Failure, Skeleton } from '../components/state';
import { whenOnline } from '../components/when-online';
import { useTexts } from '../texts/texts';
import { developmentSession } from './development-session';
import { people, type Person } from './people';
import type { SignInTarget } from './open-id';
import { personalQueries } from './personal-queries';
import { beginSession } from './session';

/** Where everybody comes in: through the identity provider, and in development as one of some people. */
export function SignInPage() {
  const { t } = useTexts();
  const { from = '/', channel } = useSearch({ from: '/sign-in' });
  const { data: configuration, error, refetch } = useQuery(configurationQuery);

  useEffect(() => {
    document.title = `${t('Platform.actions.signIn')} · ${t('Platform.name')}`;
  }, [t]);

  return (
    <main className="centered">
      <div className="sign-in">
        <Brand />
        {error && <Failure error={error} onRetry={refetch} />}
        {!configuration && !error && <Skeleton lines={4} height="3rem" />}
        {configuration?.openId && <OpenIdSignIn openId={configuration.openId} target={{ from, channel }} />}
        {configuration?.development && (
          <DevelopmentSignIn tenants={configuration.development.tenants} from={from} />
        )}
      </div>
    </main>
  );
}

type Configuration = NonNullable<Awaited<ReturnType<NonNullable<typeof configurationQuery.queryFn>>>>;
type OpenId = NonNullable<Configuration['openId']>;
type Tenants = NonNullable<Configuration['development']>['tenants'];

function OpenIdSignIn({ openId, target }: { openId: OpenId; target: SignInTarget }) {
  const { t } = useTexts();
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => (await whenOnline(() => import('./open-id'))).startSignIn(openId, target),
  });
  // The window was opened to sign in.
  const isAsked = target.channel !== undefined;
  useEffect(() => {
    if (isAsked) mutate();
  }, [isAsked, mutate]);
  return (
    <div className="stack">
      <h1>{t('Platform.actions.signIn')}</h1>
      <p className="soft">{t('Console.signIn.atProvider', { host: new URL(openId.issuer).host })}</p>
      {error && <Callout tone="bad" title={t('Console.signIn.providerFailed')} />}
      <Button look="primary" isLarge isPending={isPending} onPress={() => mutate()}>
        {t('Platform.actions.signIn')}
      </Button>
    </div>
  );
}

function DevelopmentSignIn({ tenants, from }: { tenants: Tenants; from: string }) {
  const { t } = useTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { mutate, error, isPending } = useMutation({
    mutationFn: async ({ person, tenantId }: { person: Person; tenantId: string }) => {
      beginSession(await developmentSession(person, tenantId));
      queries.removeQueries(personalQueries);
      await navigate({ to: from, replace: true });
    },
  });
  return (
    <div className="stack">
      <div className="stack tight">
        <h1>{t('Console.signIn.asWhom')}</h1>
        <p className="soft">{t('Console.signIn.development')}</p>
      </div>
      {error && <Failure error={error} />}
      {tenants.map((tenant) => (
        <section key={tenant.id} className="stack tight" aria-label={tenant.name}>
          <h2>{tenant.name}</h2>
          <div className="panel person-list">
            {people.map((person) => (
              <AriaButton
                key={person.userId}
                className="person-button"
                isDisabled={isPending}
                onPress={() => mutate({ person, tenantId: tenant.id })}
              >
                <Avatar name={person.name} />
                <span>{person.name}</span>
                <span className="soft">{t(`Console.signIn.roles.${person.role}`)}</span>
              </AriaButton>
            ))}
          </div>
        </section>
      ))}
    </div>
  );
}
