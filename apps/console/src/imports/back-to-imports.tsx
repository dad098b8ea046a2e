import { Link } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { useTexts } from '../texts/texts';

export function BackToImports() {
  const { t } = useTexts();
  return (
    <Link to="/imports" className="back-link">
      <ChevronLeft aria-hidden />
      {t('Platform.areas.imports')}
    </Link>
  );
}
