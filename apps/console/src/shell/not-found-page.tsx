import { Compass } from 'lucide-react';
import { LinkButton } from '../components/link-button';
import { EmptyState } from '../components/state';
import { useTexts } from '../texts/texts';

export function NotFoundPage() {
  const { t } = useTexts();
  return (
    <main className="centered">
      <EmptyState
        icon={Compass}
        isPage
        title={t('Console.failure.noPage')}
        action={<LinkButton to="/">{t('Console.failure.toStart')}</LinkButton>}
      />
    </main>
  );
}
