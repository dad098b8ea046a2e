import { Link } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { useTexts } from '../texts/texts';

export function BackToExports() {
  const { t } = useTexts();
  return (
    <Link to="/exports" className="back-link">
      <ChevronLeft aria-hidden />
      {t('Platform.areas.exports')}
    </Link>
  );
}
