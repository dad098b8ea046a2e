import { pagedResult } from '@plinth/kernel/paged-result';
import { lengthOf } from '@plinth/kernel/text';
import { z } from 'zod';
import { Id, NOT_ONLY_BLANKS, text, Timestamp } from '../schemas';

export const BODY_LENGTH_MAX = 65_536;
/** As many have text of any characters; only control characters have six each. A page of the longest ones can be sent. */
const BODY_JSON_BYTES_MAX = 4 * BODY_LENGTH_MAX + 2;
export const ATTACHMENTS_MAX = 20;
export const MENTIONS_MAX = 50;
export const SUGGESTIONS_MAX = 20;
export const PEOPLE_MAX = 100;
export const BLOBS_LISTED_MAX = 100;
/** Followers of one entity: all of them are notified by one event. */
export const FOLLOWERS_OF_ENTITY_MAX = 10_000;

/** A comment for everyone, a note for internal staff, or a system log for everyone. */
export const TimelineEntryType = { Comment: 0, InternalNote: 1, SystemLog: 2 } as const;
export type TimelineEntryType = (typeof TimelineEntryType)[keyof typeof TimelineEntryType];

const bytesOf = (value: string): number => new TextEncoder().encode(value).length;

/** With the longest type and user it fits an index of Postgres; only ids of rare characters have more in 400 of them. */
const ENTITY_ID_BYTES_MAX = 1_200;
/** The id of an entity, free text of the service that owns the entity. */
export const EntityId = text(400, 1)
  .refine((id) => bytesOf(id) <= ENTITY_ID_BYTES_MAX, {
    params: { rule: 'MaximumLength' },
    message: `At most ${ENTITY_ID_BYTES_MAX} bytes in UTF-8.`,
  })
  .meta({
    description: `Id of the entity, at most ${ENTITY_ID_BYTES_MAX} bytes in UTF-8`,
    examples: ['4711'],
  });

export const TimelineStreamEntry = z
  .object({
    id: z.string(),
    entityType: z.string(),
    entityId: z.string(),
    entryType: z.enum(TimelineEntryType),
    body: z.string(),
    authorId: z.string(),
    authorDisplayName: z.string(),
    parentEntryId: z.string().nullable(),
    createdAt: Timestamp,
    attachmentBlobIds: z.array(z.string()),
  })
  .meta({ id: 'TimelineStreamEntry' });
export type TimelineStreamEntry = z.output<typeof TimelineStreamEntry>;

export const TimelineStreamPage = z
  .object({
    items: z.array(TimelineStreamEntry),
    totalCount: z.int(),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'TimelineStreamPage' });

export const CreateTimelineEntryRequest = z
  .object({
    // Only the system writes the third type.
    entryType: z.enum(TimelineEntryType).exclude(['SystemLog']),
    // Stored as it was written, not normalised.
    body: z
      .string()
      .refine((value) => value.trim() !== '', { params: { rule: 'NotEmpty' }, message: 'Write something.' })
      .refine((value) => lengthOf(value) <= BODY_LENGTH_MAX, {
        params: { rule: 'MaximumLength', maximum: BODY_LENGTH_MAX },
        message: `At most ${BODY_LENGTH_MAX} characters.`,
      })
      .refine((value) => bytesOf(JSON.stringify(value)) <= BODY_JSON_BYTES_MAX, {
        params: { rule: 'MaximumLength' },
        message: `At most ${BODY_JSON_BYTES_MAX} bytes of JSON.`,
      })
      .meta({ maxLength: BODY_LENGTH_MAX, minLength: 1, pattern: NOT_ONLY_BLANKS }),
    parentEntryId: Id.nullish(),
    attachmentBlobIds: z.array(Id).max(ATTACHMENTS_MAX).nullish(),
  })
  .meta({ id: 'CreateTimelineEntryRequest' });
export type CreateTimelineEntryRequest = z.output<typeof CreateTimelineEntryRequest>;

export const MentionSuggestion = z
  .object({ id: z.string(), displayName: z.string() })
  .meta({ id: 'MentionSuggestion' });

export const NotificationKind = { Mention: 'Mention', Entry: 'Entry' } as const;
export type NotificationKind = (typeof NotificationKind)[keyof typeof NotificationKind];

export const NotificationSeverity = { Info: 'Info', Warning: 'Warning', Error: 'Error' } as const;
export type NotificationSeverity = (typeof NotificationSeverity)[keyof typeof NotificationSeverity];

export const Notification = z
  .object({
    id: z.string(),
    kind: z.enum(NotificationKind),
    entityType: z.string(),
    entityId: z.string(),
    entryId: z.string(),
    actorId: z.string(),
    actorDisplayName: z.string(),
    /** What happened, in one short sentence in the culture of the reader. */
    title: z.string(),
    /** The same text as `excerpt`. */
    body: z.string(),
    /** `Warning` and `Error` where the system records that something failed, in part or as a whole. */
    severity: z.enum(NotificationSeverity),
    excerpt: z.string(),
    createdAt: Timestamp,
    /** Whether `readAt` is set. */
    isRead: z.boolean(),
    readAt: Timestamp.nullable(),
  })
  .meta({ id: 'Notification' });

export const NotificationPage = pagedResult(Notification)
  .extend({
    /** The number of all unread notifications, on whatever page or filter. */
    unreadCount: z.int(),
  })
  .meta({ id: 'PagedResultOfNotification' });

export const UnreadCount = z.object({ count: z.int() }).meta({ id: 'UnreadCount' });

/** What can be attached, judged by content. Programs and web pages as such cannot. */
export const attachableTypes = [
  'application/gzip',
  'application/json',
  'application/msword',
  'application/pdf',
  'application/vnd.ms-excel',
  'application/vnd.ms-outlook',
  'application/vnd.ms-powerpoint',
  'application/vnd.oasis.opendocument.presentation',
  'application/vnd.oasis.opendocument.spreadsheet',
  'application/vnd.oasis.opendocument.text',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/x-ole-storage',
  'application/zip',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'image/avif',
  'image/bmp',
  'image/gif',
  'image/heic',
  'image/jpeg',
  'image/png',
  'image/tiff',
  'image/webp',
  'text/csv',
  'text/markdown',
  'text/plain',
  'video/mp4',
  'video/webm',
] as const;
export type AttachableType = (typeof attachableTypes)[number];

export const BlobInfo = z
  .object({
    id: z.string(),
    fileName: z.string(),
    mimeType: z.string(),
    sizeBytes: z.int(),
    sha256: z.string(),
    createdAt: Timestamp,
  })
  .meta({ id: 'BlobInfo' });
