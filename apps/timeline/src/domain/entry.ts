import {
  MENTIONS_MAX,
  TimelineEntryType,
  type CreateTimelineEntryRequest,
} from '@plinth/contracts/timeline/shapes';
import { holds, type Caller } from '@plinth/kernel/caller';
import { findMentions, mentionedUserIds } from './mention';
import {
  attachmentRepeated,
  attachmentsUnknown,
  entryOfSomeoneElse,
  internalNoteNotAllowed,
  parentEntryUnknown,
  replyNotInternal,
  systemLogKept,
  timelineAccessRequired,
  tooManyMentions,
} from './problems';

/** The entity that a timeline belongs to. */
export interface EntityName {
  entityType: string;
  entityId: string;
}

/** The message of a system log: the key of a text and its values. */
export interface SystemMessage {
  key: string;
  values: Record<string, string | number>;
}

export interface Entry extends EntityName {
  id: string;
  entryType: TimelineEntryType;
  /** Of a system log in the default culture; each reader sees it in their own. */
  body: string;
  message: SystemMessage | null;
  authorId: string;
  authorDisplayName: string;
  parentEntryId: string | null;
  createdAt: Date;
  attachmentBlobIds: string[];
}

/** What a person is about to write, complete but for what the store adds. */
export interface Draft extends EntityName {
  entryType: TimelineEntryType;
  body: string;
  parentEntryId: string | null;
  attachmentBlobIds: string[];
  mentionedUserIds: string[];
}

/** Checks what a person wants to write, as far as that is possible without the database. */
export function toDraft(entity: EntityName, request: CreateTimelineEntryRequest, caller: Caller): Draft {
  if (
    request.entryType === TimelineEntryType.InternalNote &&
    !holds(caller, 'Timeline.InternalNotes.Create')
  ) {
    throw internalNoteNotAllowed();
  }
  const mentions = findMentions(request.body);
  if (mentions.length > MENTIONS_MAX) throw tooManyMentions();
  const attachmentBlobIds = request.attachmentBlobIds ?? [];
  const repeated = attachmentBlobIds.findIndex((id, index) => attachmentBlobIds.indexOf(id) !== index);
  if (repeated >= 0) throw attachmentRepeated(repeated);
  return {
    ...entity,
    entryType: request.entryType,
    body: request.body,
    parentEntryId: request.parentEntryId ?? null,
    attachmentBlobIds,
    mentionedUserIds: mentionedUserIds(mentions),
  };
}

/** Checks a reply against its parent; undefined where its author sees no such entry. */
export function requireReplyAllowed(draft: Draft, parent: Pick<Entry, 'entryType'> | undefined): void {
  if (!parent) throw parentEntryUnknown();
  // A reply that others see would reveal that there is a note.
  if (
    parent.entryType === TimelineEntryType.InternalNote &&
    draft.entryType !== TimelineEntryType.InternalNote
  ) {
    throw replyNotInternal();
  }
}

/** Refuses attachments that do not exist for this author. */
export function requireAttachable(draft: Draft, known: ReadonlySet<string>): void {
  const unknown = draft.attachmentBlobIds.flatMap((id, index) => (known.has(id) ? [] : [index]));
  if (unknown.length > 0) throw attachmentsUnknown(unknown);
}

/** Refuses callers who may not remove this entry. */
export function requireRemovable(entry: Pick<Entry, 'entryType' | 'authorId'>, caller: Caller): void {
  if (entry.entryType === TimelineEntryType.SystemLog) throw systemLogKept();
  if (entry.authorId !== caller.userId && !holds(caller, 'Timeline.Entries.Manage'))
    throw entryOfSomeoneElse();
}

const TIMELINE_PERMISSIONS = ['Timeline.Entries.Read', 'Timeline.Entries.Create', 'Timeline.Entries.Manage'];

/** Refuses callers without any permission for timelines before they learn what exists in one. */
export function requireTimelineAccess(caller: Caller): void {
  if (!TIMELINE_PERMISSIONS.some((permission) => holds(caller, permission)))
    throw timelineAccessRequired(TIMELINE_PERMISSIONS);
}
