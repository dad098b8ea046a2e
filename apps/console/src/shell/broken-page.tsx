import { TriangleAlert } from 'lucide-react';
import { Button } from '../components/button';
import { EmptyState } from '../components/state';
import { useTexts } from '../texts/texts';

/** What stands in the place of a page that cannot be shown. */
export function BrokenPage({ reset }: { reset: () => void }) {
  const { t } = useTexts();
  return (
    <div role="alert">
      <EmptyState
        icon={TriangleAlert}
        isPage
        title={t('Console.failure.broken')}
        action={<Button onPress={reset}>{t('Platform.actions.retry')}</Button>}
      >
        {t('Console.failure.brokenHelp')}
      </EmptyState>
    </div>
  );
}
