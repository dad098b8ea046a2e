import { Link } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { useTexts } from '../texts/texts';

export function BackToTemplates() {
  const { t } = useTexts();
  return (
    <Link to="/templates" className="back-link">
      <ChevronLeft aria-hidden />
      {t('Platform.areas.templates')}
    </Link>
  );
}
