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

const undoTones: Record<NonNullable<ImportJob['undoStatus']>, BadgeTone> = {
  Undoing: 'accent',
  Undone: undefined,
  PartiallyUndone: 'warn',
  Failed: 'bad',
};

/** How far an import is; of one that was undone, how far that is. */
export function ImportStatus({ status, undoStatus }: Pick<ImportJob, 'status' | 'undoStatus'>) {
  const { t } = useTexts();
  if (undoStatus !== null)
    return (
      <Badge tone={undoTones[undoStatus]} isLive={undoStatus === 'Undoing'}>
        {t(`DataExchange.undoStatus.${undoStatus}`)}
      </Badge>
    );
  return (
    <Badge tone={tones[status]} isLive={status === 'Executing'}>
      {t(`DataExchange.importStatus.${status}`)}
    </Badge>
  );
}
