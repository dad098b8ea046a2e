import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Menu as MenuIcon } from 'lucide-react';
import { Suspense, useState } from 'react';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { callerQuery } from '../api/platform';
import { Brand } from '../components/brand';
import { IconButton } from '../components/button';
import { Failure, Skeleton } from '../components/state';
import { UnreadBadge } from '../notifications/unread-badge';
import { useTexts } from '../texts/texts';
import { mayDo, useCaller } from './caller';
import { destinations } from './navigation';
import { PersonMenu } from './person-menu';

/** Around every page: where one can go, and who one is. */
export function Shell() {
  const { t } = useTexts();
  const { data: caller, error, refetch } = useQuery(callerQuery);
  if (error)
    return (
      <main className="centered">
        <Failure error={error} onRetry={() => void refetch()} />
      </main>
    );
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        {t('Console.shell.skip')}
      </a>
      {caller ? <Frame /> : <div className="side" />}
      <main id="main" className="main" tabIndex={-1}>
        {caller && (
          <Suspense
            fallback={
              <div className="page">
                <Skeleton lines={5} />
              </div>
            }
          >
            <Outlet />
          </Suspense>
        )}
      </main>
    </div>
  );
}

function Frame() {
  return (
    <>
      <NarrowBar />
      <Side />
    </>
  );
}

function Side({ onLeave }: { onLeave?: () => void }) {
  const { t } = useTexts();
  const caller = useCaller();
  const groups = destinations
    .map(({ text, items }) => ({ text, items: items.filter(({ permission }) => mayDo(caller, permission)) }))
    .filter(({ items }) => items.length > 0);
  return (
    <header className="side">
      <Brand />
      <nav aria-label={t('Console.shell.navigation')}>
        {groups.map(({ text, items }) => (
          <div key={text} className="stack tight">
            <div className="group" id={text}>
              {t(text)}
            </div>
            {items.map(({ text: name, to, icon: Icon }) => (
              <Link key={to} to={to} className="nav-link" onClick={onLeave}>
                <Icon aria-hidden />
                {t(name)}
                {to === '/notifications' && <UnreadBadge />}
              </Link>
            ))}
          </div>
        ))}
      </nav>
      <PersonMenu />
    </header>
  );
}

function NarrowBar() {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  return (
    <header className="bar-top" key={pathname}>
      <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
        <IconButton label={t('Console.shell.menu')}>
          <MenuIcon aria-hidden />
        </IconButton>
        <ModalOverlay className="drawer-overlay" isDismissable>
          <Modal className="drawer">
            <Dialog aria-label={t('Console.shell.navigation')}>
              <Side onLeave={() => setOpen(false)} />
            </Dialog>
          </Modal>
        </ModalOverlay>
      </DialogTrigger>
      <Brand />
      <span />
    </header>
  );
}
