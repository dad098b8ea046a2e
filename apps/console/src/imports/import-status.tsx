import type { ImportJob } from '../api/data-exchange';
import { Badge, type BadgeTone } from '../components/state';
import { useTexts } from '../texts/texts';

const tones: Record<ImportJob['status'], BadgeTone> = {
  Created: 'accent',
  Previewed: 'accent',
  Mapped: 'accent',
  Executing: 'accent',
  Completed: 'good',
  PartiallyCompleted: 'warn',
  Failed: 'bad',
  Cancelled: undefined,
};

export function ImportStatus({ status }: { status: ImportJob['status'] }) {
  const { t } = useTexts();
  return (
    <Badge tone={tones[status]} isLive={status === 'Executing'}>
      {t(`DataExchange.importStatus.${status}`)}
    </Badge>
  );
}
