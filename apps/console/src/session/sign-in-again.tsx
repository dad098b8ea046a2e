import { useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useId } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { callerOf, callerQuery, configurationQuery } from '../api/platform';
import { Button } from '../components/button';
import { Callout, Failure, Skeleton } from '../components/state';
import { forgetKept } from '../components/stored-state';
import { useCaller } from '../shell/caller';
import { useSignOut } from '../shell/use-sign-out';
import { useTexts } from '../texts/texts';
import { developmentSession } from './development-session';
import { NoWindowError, signInInOtherWindow } from './other-window';
import { people } from './people';
import { beginSession, isPersonOfWindow } from './session';
import { SESSION_KEY, type Session } from './stored-session';

/** Over the page of somebody whose session ended: what they wrote stays, and what waits is sent once they are back. */
export function SignInAgain() {
  const { t } = useTexts();
  const caller = useCaller();
  const signOut = useSignOut();
  const queries = useQueryClient();
  const explanation = useId();
  const { data: configuration, error: unknown, refetch } = useQuery(configurationQuery);
  const isAtProvider = Boolean(configuration?.openId);
  const person = people.find(({ userId }) => userId === caller.userId);
  const { mutate, error, isPending } = useMutation({
    // A window that nobody signs in in is waited for without end.
    meta: { hasProgress: true },
    mutationFn: async () => {
      const session = isAtProvider
        ? await signInInOtherWindow()
        : await developmentSession(person!, caller.tenantId);
      await goOn(session, queries);
    },
  });
  return (
    <ModalOverlay className="modal-overlay" isOpen isKeyboardDismissDisabled>
      <Modal className="modal">
        <Dialog className="dialog" role="alertdialog" aria-describedby={explanation}>
          <Heading slot="title" level={2}>
            {t('Console.signIn.again')}
          </Heading>
          <p id={explanation}>{t('Console.signIn.lapsed')}</p>
          {unknown && <Failure error={unknown} onRetry={refetch} />}
          {error instanceof NoWindowError ? (
            <Callout tone="bad" title={t('Console.signIn.noWindow')} />
          ) : (
            error && <Failure error={error} />
          )}
          {!configuration && !unknown && <Skeleton lines={1} height="2.5rem" />}
          <div className="actions">
            <Button onPress={() => void signOut()}>{t('Console.signIn.asOther')}</Button>
            {configuration && (isAtProvider || person) && (
              // The other window may have been closed: this may always be pressed again.
              <Button
                autoFocus
                look="primary"
                isPending={isPending && !isAtProvider}
                onPress={() => mutate()}
              >
                {t('Console.signIn.goOnAs', { name: caller.userName })}
              </Button>
            )}
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Whoever else signed in gets nothing of what is on this page, and nothing of it is sent for them. */
async function goOn(session: Session, queries: QueryClient): Promise<void> {
  const found = await callerOf(session.token);
  const { tenantId } = found;
  if (isPersonOfWindow(found)) {
    // Their roles may be others by now.
    queries.setQueryData(callerQuery.queryKey, found);
    return beginSession({ ...session, tenantId });
  }
  forgetKept();
  sessionStorage.setItem(SESSION_KEY, JSON.stringify({ ...session, tenantId }));
  location.assign('/console/');
}
