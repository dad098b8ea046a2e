import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { Suspense, useCallback, useDeferredValue, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { callerQuery } from '../api/platform';
import { Brand } from '../components/brand';
import { EscapeWhileLoading } from '../components/escape-while-loading';
import { Failure, Skeleton } from '../components/state';
import { lazyPart } from '../components/lazy-part';
import { UnreadBadge } from '../notifications/unread-badge';
import { useHasLapsed } from '../session/session';
import { useTexts } from '../texts/texts';
import { useCaller } from './caller';
import { reachableGroups } from './navigation';
import { OfflineBanner } from './offline-banner';
import { PersonButton } from './person-button';
import { SlowBanner } from './slow-banner';
import { TypedWhileLoading } from './typed-while-loading';
import { useKeptFocus } from './use-kept-focus';
import { useOwnSettings } from './use-own-settings';

const CommandPalette = lazyPart(
  () => import('./command-palette'),
  ({ CommandPalette }) => CommandPalette,
);
const SignInAgain = lazyPart(
  () => import('../session/sign-in-again'),
  ({ SignInAgain }) => SignInAgain,
);
const Drawer = lazyPart(
  () => import('./drawer'),
  ({ Drawer }) => Drawer,
);

/** Asked for by key and by buttons. */
const PALETTE_EVENT = 'plinth-palette';
const openPalette = () => dispatchEvent(new Event(PALETTE_EVENT));

/** Around every page: where one can go, and who one is. */
export function Shell() {
  const { t } = useTexts();
  const { data, error, refetch } = useQuery(callerQuery);
  const caller = useDeferredValue(data);
  if (error)
    return (
      <main className="centered">
        <h1 className="visually-hidden">{t('Platform.name')}</h1>
        <Failure error={error} onRetry={refetch} />
      </main>
    );
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        {t('Console.shell.skip')}
      </a>
      {caller ? <Frame /> : <EmptyFrame />}
      <main id="main" className="main" tabIndex={-1}>
        <OfflineBanner />
        <SlowBanner />
        {caller ? (
          <Suspense fallback={<EmptyPage />}>
            <Outlet />
          </Suspense>
        ) : (
          <EmptyPage />
        )}
      </main>
    </div>
  );
}

/** Of the same size, so that nothing moves when it is filled. */
const EmptyFrame = () => (
  <>
    <div className="bar-top">
      <span />
      <Brand />
      <span />
    </div>
    <div className="side">
      <Brand />
    </div>
  </>
);

const EmptyPage = () => (
  <div className="page">
    <Skeleton lines={5} />
  </div>
);

function Frame() {
  useOwnSettings();
  useFocusOnNavigation();
  useKeptFocus();
  const hasLapsed = useHasLapsed();
  return (
    <>
      <Palette />
      <NarrowBar />
      <Side />
      {hasLapsed && (
        <Suspense>
          <SignInAgain />
        </Suspense>
      )}
    </>
  );
}

/** Ctrl+K, or ⌘K. */
function Palette() {
  const [isOpen, setOpen] = useState(false);
  const typed = useRef('');
  const takeTyped = useCallback(() => {
    const text = typed.current;
    typed.current = '';
    return text;
  }, []);
  const leave = useCallback(() => {
    takeTyped();
    setOpen(false);
  }, [takeTyped]);
  // Before the page is painted: whoever sees it can press keys.
  useLayoutEffect(() => {
    const open = () => setOpen(true);
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      open();
    };
    addEventListener('keydown', onKeyDown);
    addEventListener(PALETTE_EVENT, open);
    return () => {
      removeEventListener('keydown', onKeyDown);
      removeEventListener(PALETTE_EVENT, open);
    };
  }, []);
  if (!isOpen) return null;
  return (
    <Suspense
      fallback={
        <>
          <EscapeWhileLoading onEscape={leave} />
          <TypedWhileLoading typed={typed} onLeave={leave} />
        </>
      }
    >
      <CommandPalette takeTyped={takeTyped} onClose={() => setOpen(false)} />
    </Suspense>
  );
}

/** Whoever goes to another page begins at its content, and hears so. */
function useFocusOnNavigation(): void {
  const { pathname } = useLocation();
  const before = useRef(pathname);
  useEffect(() => {
    if (before.current === pathname) return;
    before.current = pathname;
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [pathname]);
}

function Side({ onLeave }: { onLeave?: () => void }) {
  const { t } = useTexts();
  const caller = useCaller();
  const groups = reachableGroups(caller);
  return (
    <header className="side">
      <Brand />
      <AriaButton className="palette-hint" onPress={openPalette}>
        <Search aria-hidden />
        <span className="truncate">{t('Console.palette.hint')}</span>
        <kbd aria-hidden>Ctrl K</kbd>
      </AriaButton>
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
      <PersonButton />
    </header>
  );
}

function NarrowBar() {
  const { t } = useTexts();
  const { pathname } = useLocation();
  const [openAt, setOpenAt] = useState<string>();
  return (
    <header className="bar-top">
      <AriaButton
        className="button icon-only quiet"
        aria-label={t('Console.shell.menu')}
        onPress={() => setOpenAt(pathname)}
      >
        <MenuIcon aria-hidden />
      </AriaButton>
      {openAt === pathname && (
        <Suspense fallback={<EscapeWhileLoading onEscape={() => setOpenAt(undefined)} />}>
          <Drawer label={t('Console.shell.navigation')} onClose={() => setOpenAt(undefined)}>
            <Side onLeave={() => setOpenAt(undefined)} />
          </Drawer>
        </Suspense>
      )}
      <Brand />
      <span />
    </header>
  );
}
