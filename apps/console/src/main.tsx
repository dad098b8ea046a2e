import font from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';
import { ApiProblem } from '@plinth/sdk/api-problem';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, useRouterState } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { AskedMutations } from './api/asked-mutations';
import { configurationQuery } from './api/platform';
import { Starting } from './components/brand';
import { router } from './router';
import { beginAsking } from './session/early-answers';
import { currentSession, endSession, followSignOuts, isLapsed } from './session/session';
import { TextsProvider, type Fallback } from './texts/texts';
import '@fontsource-variable/inter/index.css';
import { storeFont } from './styles/stored-font';
import './styles/tokens.css';
import './styles/base.css';
import './styles/components.css';
import './styles/shell.css';
import './styles/imports.css';
import './styles/entities.css';
import './styles/exports.css';
import './styles/settings.css';
import './styles/localization.css';
import './styles/operations.css';

beginAsking();

/** The platform accepts the token no longer: whoever it was signs in again and comes back to this page. */
function onError(error: Error): void {
  if (!(error instanceof ApiProblem) || error.status !== 401) return;
  // Then this is about the token of a new session, which has not begun: the page stays.
  if (isLapsed()) return;
  endSession();
  const { href: from, pathname } = router.state.location;
  // What waited for somebody who left instead comes back after they did.
  if (pathname === '/sign-in') return;
  void router.navigate({ to: '/sign-in', search: { from } });
}

const queries = new QueryClient({
  // Of the caches, as what changes something may have an `onError` of its own.
  queryCache: new QueryCache({ onError }),
  mutationCache: new AskedMutations({ onError }),
  // The client of the platform retries by itself what may succeed later.
  defaultOptions: { queries: { retry: false, staleTime: 5_000 }, mutations: { retry: false } },
});

/** Without texts of the platform there are only these. */
const withoutTexts: Fallback = ({ error, retry }) =>
  !error ? (
    <Starting />
  ) : (
    <main className="centered">
      <div className="empty" role="alert" lang="en">
        <h1>The platform cannot be reached.</h1>
        <p>Check your connection. The console goes on where you were.</p>
        <button type="button" className="button" onClick={retry}>
          Try again
        </button>
      </div>
    </main>
  );

/** Until the scripts of the first page are there, it looks as before there was any. */
function Pages() {
  const isLoading = useRouterState({ router, select: ({ matches }) => matches.length === 0 });
  return (
    <>
      {isLoading && <Starting />}
      <RouterProvider router={router} />
    </>
  );
}

followSignOuts();
router.update({ context: { queries } });
// The page of the address is on its way while the texts are. In a task of its own: keys are answered between it and this
// one, which is the longest.
setTimeout(() => void router.load());
if (!currentSession()) void queries.prefetchQuery(configurationQuery);

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <TextsProvider fallback={withoutTexts}>
        <Pages />
      </TextsProvider>
    </QueryClientProvider>
  </StrictMode>,
);

/** By then a page is there on a slow network too. */
const FONT_AFTER_MILLISECONDS = 3_000;
addEventListener('load', () =>
  setTimeout(() => void storeFont(font).catch(() => undefined), FONT_AFTER_MILLISECONDS),
);
