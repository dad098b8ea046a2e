import { useSyncExternalStore } from 'react';
import { useTexts } from '../texts/texts';

const subscribe = (listener: () => void) => {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
};

/** Says that there is no connection while there is none; what waits is sent when it is back. */
export function OfflineBanner() {
  const { t } = useTexts();
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine);
  return (
    <div role="status">
      {!isOnline && (
        <p className="banner">
          {t('Console.failure.offline')}. {t('Console.failure.waiting')}
        </p>
      )}
    </div>
  );
}
