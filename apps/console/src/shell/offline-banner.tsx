import { useTexts } from '../texts/texts';
import { useIsOnline } from './use-is-online';

/** Says that there is no connection while there is none; what waits is sent when it is back. */
export function OfflineBanner() {
  const { t } = useTexts();
  const isOnline = useIsOnline();
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
