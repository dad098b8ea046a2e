import { timelineProblems } from '@plinth/contracts/timeline/problems';
import {
  MENTIONS_MAX,
  TimelineEntryType,
  type CreateTimelineEntryRequest,
} from '@plinth/contracts/timeline/shapes';
import { holds, type Caller } from '@plinth/kernel/caller';
import { forbidden, invalid } from '@plinth/kernel/problem';
import { findMentions, mentionedUserIds } from './mention';

/** What a timeline belongs to. */
export interface EntityName {
  entityType: string;
  entityId: string;
}

/** What the system says in an entry: a text of its catalogue and what is put into it. */
export interface SystemMessage {
  key: string;
  values: Record<string, string | number>;
}

export interface Entry extends EntityName {
  id: string;
  entryType: TimelineEntryType;
  /** Where the system speaks, its words in the default culture; each reader is given their own. */
  body: string;
  message: SystemMessage | null;
  authorId: string;
  authorDisplayName: string;
  parentEntryId: string | null;
  createdAt: Date;
  attachmentBlobIds: string[];
}

/** What a person is about to write, complete but for what the store decides. */
export interface Draft extends EntityName {
  entryType: TimelineEntryType;
  body: string;
  parentEntryId: string | null;
  attachmentBlobIds: string[];
  mentionedUserIds: string[];
}

/** Checks what a person wants to write, as far as that can be judged without looking at the timeline. */
export function toDraft(entity: EntityName, request: CreateTimelineEntryRequest, caller: Caller): Draft {
  if (
    request.entryType === TimelineEntryType.InternalNote &&
    !holds(caller, 'Timeline.InternalNotes.Create')
  ) {
    throw timelineProblems['internal-note-not-allowed'](
      'This needs the permission Timeline.InternalNotes.Create.',
    );
  }
  const mentions = findMentions(request.body);
  if (mentions.length > MENTIONS_MAX) {
    throw invalid({ body: 'Range' }, `An entry mentions at most ${MENTIONS_MAX} people.`);
  }
  const attachmentBlobIds = request.attachmentBlobIds ?? [];
  const repeated = attachmentBlobIds.findIndex((id, index) => attachmentBlobIds.indexOf(id) !== index);
  if (repeated >= 0) throw invalid({ [`attachmentBlobIds[${repeated}]`]: 'Unique' });
  return {
    ...entity,
    entryType: request.entryType,
    body: request.body,
    parentEntryId: request.parentEntryId ?? null,
    attachmentBlobIds,
    mentionedUserIds: mentionedUserIds(mentions),
  };
}

/** Checks an answer against the entry it answers; undefined where this writer sees no such entry. */
export function requireAnswerable(draft: Draft, parent: Pick<Entry, 'entryType'> | undefined): void {
  if (!parent)
    throw invalid({ parentEntryId: 'Format' }, 'The timeline of this entity has no such entry to answer.');
  // Silences, row 85: what answers a note is as internal as the note.
  if (
    parent.entryType === TimelineEntryType.InternalNote &&
    draft.entryType !== TimelineEntryType.InternalNote
  ) {
    throw invalid({ entryType: 'Enum' }, 'What answers an internal note must be an internal note.');
  }
}

/** Names the attachments that are not there for this writer, if any. */
export function requireAttachable(draft: Draft, known: ReadonlySet<string>): void {
  const unknown = draft.attachmentBlobIds.flatMap((id, index) => (known.has(id) ? [] : [index]));
  if (unknown.length === 0) return;
  const errors = Object.fromEntries(
    unknown.map((index) => [`attachmentBlobIds[${index}]`, 'Format' as const]),
  );
  throw invalid(errors, 'Upload a file before you attach it.');
}

/** Stops whoever may not remove this entry. */
export function requireRemovable(entry: Pick<Entry, 'entryType' | 'authorId'>, caller: Caller): void {
  if (entry.entryType === TimelineEntryType.SystemLog) {
    throw timelineProblems['system-log-kept']('What the system recorded cannot be removed.');
  }
  if (entry.authorId !== caller.userId && !holds(caller, 'Timeline.Entries.Manage')) {
    throw timelineProblems['entry-of-someone-else']('Only its author may remove this entry.');
  }
}

const TOUCHING = ['Timeline.Entries.Read', 'Timeline.Entries.Create', 'Timeline.Entries.Manage'];

/** Stops callers who have nothing to do with timelines before they learn what exists in one. */
export function requireSomeAccess(caller: Caller): void {
  if (!TOUCHING.some((permission) => holds(caller, permission))) {
    throw forbidden(`This needs one of the permissions ${TOUCHING.join(', ')}.`);
  }
}
