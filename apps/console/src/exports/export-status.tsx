import type { ExportJob } from '../api/data-exchange';
import { Badge, type BadgeTone } from '../components/state';
import { useTexts } from '../texts/texts';

const tones: Record<ExportJob['status'], BadgeTone> = {
  Queued: 'accent',
  Exporting: 'accent',
  Completed: 'good',
  Failed: 'bad',
};

export function ExportStatus({ status }: { status: ExportJob['status'] }) {
  const { t } = useTexts();
  return (
    <Badge tone={tones[status]} isLive={status === 'Exporting'}>
      {t(`DataExchange.exportStatus.${status}`)}
    </Badge>
  );
}
