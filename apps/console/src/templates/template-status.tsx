import { Badge, type BadgeTone } from '../components/state';
import { useTexts } from '../texts/texts';

/** The names of the statuses, by their numbers. */
export const statusNames = ['Draft', 'PendingReview', 'Published', 'Archived'] as const;

const tones: BadgeTone[] = [undefined, 'warn', 'good', undefined];

/** Where a template stands; of a draft also that something is published already. */
export function TemplateStatus({
  status,
  hasPublishedVersion,
}: {
  status: number;
  hasPublishedVersion: boolean;
}) {
  const { t } = useTexts();
  return (
    <span className="row">
      <Badge tone={tones[status]}>{t(`Templating.status.${statusNames[status]!}`)}</Badge>
      {status < 2 && hasPublishedVersion && <Badge tone="good">{t('Templating.status.Published')}</Badge>}
    </span>
  );
}
