import { useIsFetching, useIsMutating } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTexts } from '../texts/texts';

/** Longer than anything usual takes, and shorter than people believe that it still goes on. */
const SLOW_MILLISECONDS = 8_000;

/** Says that something takes longer than usual, which is told apart from a page that is broken only so. */
export function SlowBanner() {
  const { t } = useTexts();
  // What tells its own progress is not slow.
  const isWriting = useIsMutating({ predicate: ({ meta }) => meta?.['hasProgress'] !== true }) > 0;
  const isWaiting = useIsFetching() > 0 || isWriting;
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
    <div role="status">
      {isSlow && navigator.onLine && <p className="banner">{t('Console.failure.slow')}</p>}
    </div>
  );
}
