import { quotaExceeded } from '@plinth/contracts/platform/problems';
import { timelineProblems } from '@plinth/contracts/timeline/problems';
import { MENTIONS_MAX } from '@plinth/contracts/timeline/shapes';
import { forbidden, invalid } from '@plinth/kernel/problem';

export const entryNotFound = () =>
  timelineProblems['entry-not-found']('There is no such entry in the timeline of this entity.');

export const entryOfSomeoneElse = () =>
  timelineProblems['entry-of-someone-else']('Only its author may remove this entry.');

export const systemLogKept = () =>
  timelineProblems['system-log-kept']('An entry that the system recorded cannot be removed.');

export const internalNoteNotAllowed = () =>
  timelineProblems['internal-note-not-allowed'](
    'An internal note needs the permission Timeline.InternalNotes.Create.',
  );

export const tooManyMentions = () =>
  invalid({ body: 'Range' }, `An entry mentions at most ${MENTIONS_MAX} people.`);

export const attachmentRepeated = (index: number) => invalid({ [`attachmentBlobIds[${index}]`]: 'Unique' });

export const attachmentsUnknown = (indexes: readonly number[]) =>
  invalid(
    Object.fromEntries(indexes.map((index) => [`attachmentBlobIds[${index}]`, 'Format' as const])),
    'Upload a file before you attach it.',
  );

export const parentEntryUnknown = () =>
  invalid({ parentEntryId: 'Format' }, 'The timeline of this entity has no such entry to reply to.');

export const replyNotInternal = () =>
  invalid({ entryType: 'Enum' }, 'A reply to an internal note must be an internal note.');

export const timelineAccessRequired = (permissions: readonly string[]) =>
  forbidden(`This request needs one of the permissions ${permissions.join(', ')}.`);

export const personNotFound = () =>
  timelineProblems['person-not-found']('No person with this user id has called in your tenant yet.');

export const notificationNotFound = () =>
  timelineProblems['notification-not-found']('You have no notification of this id.');

export const blobNotFound = () => timelineProblems['blob-not-found']('There is no such file.');

export const blobTooLarge = (bytesMax: number) =>
  timelineProblems['blob-too-large'](`A file to attach may have ${bytesMax} bytes at most.`);

export const blobTypeNotAccepted = () =>
  timelineProblems['blob-type-not-accepted']('A file of this type cannot be attached.');

export const fileEmpty = () => invalid({ file: 'NotEmpty' }, 'The file is empty.');

const RETRY_HOUR_SECONDS = 3_600;

/** Files that no entry refers to are removed every hour, so that is when there may be room again. */
export const attachmentsFull = (limit: number, used: number) =>
  quotaExceeded({
    quota: 'attachment-bytes',
    what: 'bytes of attached files',
    limit,
    used,
    retryAfterSeconds: RETRY_HOUR_SECONDS,
  });

export const tooManyFollowers = (limit: number) =>
  quotaExceeded({ quota: 'entity-followers', what: 'followers of one entity', limit, used: limit });
