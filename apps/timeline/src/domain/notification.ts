import { NotificationKind, NotificationSeverity, TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import type { Entry } from './entry';
import { toOneLine } from './excerpt';
import { localizeMessage, type SystemCulture } from './system-text';

const titleKeys: Record<TimelineEntryType, string> = {
  [TimelineEntryType.Comment]: 'notification.comment',
  [TimelineEntryType.InternalNote]: 'notification.internal-note',
  [TimelineEntryType.SystemLog]: 'notification.system-log',
};

/** What happened, in one short sentence for its reader. */
export function titleOf(
  kind: NotificationKind,
  entry: Pick<Entry, 'entryType' | 'entityType' | 'entityId' | 'authorDisplayName'>,
  culture: SystemCulture,
): string {
  const { entryType, entityType, entityId, authorDisplayName } = entry;
  const key = kind === NotificationKind.Mention ? 'notification.mention' : titleKeys[entryType];
  const values = { actorName: authorDisplayName, entityType, entityId };
  return toOneLine(localizeMessage({ key, values }, culture));
}

/** The system logs that tell of a failure; all other entries are information. */
const severityByMessageKey: ReadonlyMap<string, NotificationSeverity> = new Map([
  ['exchange.export-failed', NotificationSeverity.Error],
  ['exchange.import-failed', NotificationSeverity.Error],
  ['exchange.import-undo-failed', NotificationSeverity.Error],
  ['exchange.import-partially-completed', NotificationSeverity.Warning],
  ['exchange.import-partially-undone', NotificationSeverity.Warning],
]);

/** How urgent an entry is for those who are notified of it. */
export const severityOf = ({ message }: Pick<Entry, 'message'>): NotificationSeverity =>
  (message && severityByMessageKey.get(message.key)) ?? NotificationSeverity.Info;
