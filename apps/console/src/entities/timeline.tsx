import { useInfiniteQuery, useMutation, useQueries, useQueryClient } from '@tanstack/react-query';
import { Cog, Lock, MessageSquare, Paperclip, Reply, Trash2 } from 'lucide-react';
import { createContext, memo, Suspense, use, useCallback, useRef, useState, type RefObject } from 'react';
import { attachmentsQuery, timeline, timelineQuery, type Entry, type Files } from '../api/timeline';
import type { Entity } from '../api/workflow';
import { Avatar } from '../components/brand';
import { Button } from '../components/button';
import { IconButton } from '../components/icon-button';
import { Confirm } from '../components/confirm';
import { PagedList } from '../components/paged-list';
import { RelativeTime } from '../components/relative-time';
import { saveFile } from '../components/save-file';
import { Badge, EmptyState, Failure, Skeleton } from '../components/state';
import { Later } from '../components/later';
import { lazyPart } from '../components/lazy-part';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { partsOf } from './mentions';
import { useLiveTimeline } from './use-live-timeline';

const Composer = lazyPart(
  () => import('./composer'),
  ({ Composer }) => Composer,
);

export const INTERNAL_NOTE = 1;
const SYSTEM_LOG = 2;

/** Files that entries have attached, as far as the platform has said what they are. */
const FilesContext = createContext<Files>(new Map());

/** What people and the platform wrote about an entity, newest first, with replies below what they reply to. */
export function Timeline({ entity }: { entity: Entity }) {
  const { t } = useTexts();
  const caller = useCaller();
  const query = useInfiniteQuery(timelineQuery(entity));
  useLiveTimeline(entity);
  const files = useQueries({
    queries: (query.data?.pages ?? []).map(({ items }) => attachmentsQuery(items)),
    combine: (queries): Files => new Map(queries.flatMap(({ data }) => (data ? [...data] : []))),
  });
  return (
    <section className="stack timeline" aria-label={t('Platform.areas.timeline')}>
      {mayDo(caller, 'Timeline.Entries.Create') && (
        <Later place={<Skeleton lines={1} height="10.35rem" />}>
          <Composer entity={entity} />
        </Later>
      )}
      <PagedList
        query={query}
        skeleton={{ lines: 4, height: '4rem' }}
        empty={<EmptyState icon={MessageSquare} title={t('Console.entities.noEntries')} />}
      >
        {(entries) => {
          const repliesById = Map.groupBy(entries, ({ parentEntryId }) => parentEntryId);
          return (
            <FilesContext value={files}>
              {threadsOf(entries).map((entry) => (
                <Thread key={entry.id} entity={entity} entry={entry} repliesById={repliesById} />
              ))}
            </FilesContext>
          );
        }}
      </PagedList>
    </section>
  );
}

/** The entries that begin a thread: those that reply to nothing that is shown. */
function threadsOf(entries: readonly Entry[]): Entry[] {
  const known = new Set(entries.map(({ id }) => id));
  return entries.filter(({ parentEntryId }) => parentEntryId === null || !known.has(parentEntryId));
}

interface ThreadProps {
  entity: Entity;
  entry: Entry;
  /** By the id of the entry to which they reply; newest first. */
  repliesById: ReadonlyMap<string | null, readonly Entry[]>;
}

function Thread({ entity, entry, repliesById }: ThreadProps) {
  const [isReplying, setReplying] = useState(false);
  const replyButton = useRef<HTMLButtonElement>(null);
  const beginReply = useCallback(() => setReplying(true), []);
  const endReply = () => {
    setReplying(false);
    replyButton.current?.focus();
  };
  const replies = repliesById.get(entry.id)?.toReversed() ?? [];
  return (
    <article className="thread">
      <EntryView entity={entity} entry={entry} onReply={beginReply} replyButton={replyButton} />
      {(replies.length > 0 || isReplying) && (
        <div className="replies">
          {replies.map((reply) => (
            <Thread key={reply.id} entity={entity} entry={reply} repliesById={repliesById} />
          ))}
          {isReplying && (
            <Suspense>
              <Composer entity={entity} parent={entry} onDone={endReply} />
            </Suspense>
          )}
        </div>
      )}
    </article>
  );
}

interface EntryViewProps extends Omit<ThreadProps, 'repliesById'> {
  onReply: () => void;
  replyButton: RefObject<HTMLButtonElement | null>;
}

/** Rendered again only when it changes: a long timeline has hundreds, and each page that is loaded is news to the list. */
const EntryView = memo(function EntryView({ entity, entry, onReply, replyButton }: EntryViewProps) {
  const { t } = useTexts();
  const caller = useCaller();
  const queries = useQueryClient();
  const { id, entryType, authorId, authorDisplayName, body, createdAt, attachmentBlobIds } = entry;
  const remove = useMutation({
    mutationFn: () => timeline.deleteTimelineEntry({ params: { ...entity, id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: timelineQuery(entity).queryKey }),
  });
  const time = <RelativeTime className="soft small" instant={createdAt} />;
  if (entryType === SYSTEM_LOG)
    return (
      <div className="entry system soft">
        <Cog aria-label={t('Timeline.entryType.SystemLog')} />
        <span>{body}</span>
        {time}
      </div>
    );
  const mayDelete = authorId === caller.userId || mayDo(caller, 'Timeline.Entries.Manage');
  return (
    <div className={entryType === INTERNAL_NOTE ? 'entry note panel' : 'entry panel'}>
      <div className="row spread">
        <span className="row">
          <Avatar name={authorDisplayName} />
          <strong>{authorDisplayName}</strong>
          {time}
          {entryType === INTERNAL_NOTE && (
            <Badge tone="warn">
              <Lock aria-hidden width={12} height={12} />
              {t('Timeline.entryType.InternalNote')}
            </Badge>
          )}
        </span>
        <span className="row actions">
          {mayDo(caller, 'Timeline.Entries.Create') && (
            <IconButton ref={replyButton} label={t('Platform.actions.reply')} onPress={onReply}>
              <Reply aria-hidden />
            </IconButton>
          )}
          {mayDelete && (
            <Confirm
              look="quiet"
              label={<Trash2 aria-label={t('Platform.actions.delete')} />}
              title={t('Platform.confirm.title')}
              confirmLabel={t('Platform.actions.delete')}
              isPending={remove.isPending}
              onConfirm={() => remove.mutate()}
            >
              {t('Console.entities.deleteHelp')}
            </Confirm>
          )}
        </span>
      </div>
      <p className="entry-body">
        {partsOf(body).map(({ text, isMention }, index) =>
          isMention ? (
            <strong key={index} className="mention">
              {text}
            </strong>
          ) : (
            text
          ),
        )}
      </p>
      {attachmentBlobIds.length > 0 && (
        <ul className="attachments" aria-label={t('Console.entities.attachments')}>
          {attachmentBlobIds.map((blobId, index) => (
            <li key={blobId}>
              <Attachment blobId={blobId} number={index + 1} />
            </li>
          ))}
        </ul>
      )}
      {remove.error && <Failure error={remove.error} />}
    </div>
  );
});

interface AttachmentProps {
  blobId: string;
  number: number;
}

function Attachment({ blobId, number }: AttachmentProps) {
  const { t, bytes } = useTexts();
  // Undefined until the platform says what the file is.
  const file = use(FilesContext).get(blobId);
  const download = useMutation({
    mutationFn: async () => {
      const { body } = await timeline.getBlob({ params: { id: blobId } });
      saveFile(await body.blob(), body.fileName ?? blobId);
    },
  });
  return (
    <>
      <Button look="quiet" isPending={download.isPending} onPress={() => download.mutate()}>
        <Paperclip aria-hidden />
        <span className="truncate">{file?.fileName ?? t('Console.entities.attachment', { number })}</span>
        {file && <span className="soft small">{bytes(file.sizeBytes)}</span>}
      </Button>
      {download.error && <Failure error={download.error} />}
    </>
  );
}
