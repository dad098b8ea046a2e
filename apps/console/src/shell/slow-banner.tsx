import { useIsFetching, useIsMutating, type Query } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useHasLapsed } from '../session/session';
import { useTexts } from '../texts/texts';
import { useIsOnline } from './use-is-online';

/** Longer than anything usual takes, and shorter than people believe that it still goes on. */
const SLOW_MILLISECONDS = 8_000;

/** What is asked every few seconds, nobody waits for once it was there or failed: either is shown. */
const isAskedAgain = (query: Query): boolean =>
  query.state.dataUpdateCount + query.state.errorUpdateCount > 0 &&
  query.observers.some(({ options: { refetchInterval: interval } }) =>
    Boolean(typeof interval === 'function' ? interval(query) : interval),
  );

/** Says that something takes longer than usual, which is told apart from a page that is broken only so. */
export function SlowBanner() {
  const { t } = useTexts();
  // What tells its own progress is not slow.
  const isWriting = useIsMutating({ predicate: ({ meta }) => meta?.['hasProgress'] !== true }) > 0;
  const isReading = useIsFetching({ predicate: (query) => !isAskedAgain(query) }) > 0;
  // Then it is the person who is waited for.
  const hasLapsed = useHasLapsed();
  const isWaiting = !hasLapsed && (isReading || isWriting);
  const isOnline = useIsOnline();
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setTimeout(() => setSlow(true), SLOW_MILLISECONDS);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [isWaiting]);
  return (
    <div role="status">{isSlow && isOnline && <p className="banner">{t('Console.failure.slow')}</p>}</div>
  );
}
