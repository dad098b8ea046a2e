import { lengthOf } from '@plinth/kernel/text';
import { z } from 'zod';
import { Id, text, Timestamp } from '../schemas';

export const BODY_LENGTH_MAX = 65_536;
export const ATTACHMENTS_MAX = 20;
export const MENTIONS_MAX = 50;
export const SUGGESTIONS_MAX = 20;

/** Who an entry is for: everybody, internal staff, or everybody as told by the system. */
export const TimelineEntryType = { Comment: 0, InternalNote: 1, SystemLog: 2 } as const;
export type TimelineEntryType = (typeof TimelineEntryType)[keyof typeof TimelineEntryType];

/** The name of a kind of entity, in kebab or Pascal case, as the service that owns it chose it. */
export const EntityType = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9._-]{0,99}$/)
  .meta({ description: 'Kind of entity', examples: ['Invoice', 'purchase-order'] });

/** The id of an entity, free text of whoever owns the entity. */
export const EntityId = text(400, 1).meta({ description: 'Id of the entity', examples: ['4711'] });

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
    // The third type is the system's own (silences, row 41).
    entryType: z.enum(TimelineEntryType).exclude(['SystemLog']),
    // Stored as it was written: no normalisation (threats, E2 and E8).
    body: z
      .string()
      .refine((value) => value.trim() !== '', { params: { rule: 'NotEmpty' }, message: 'Write something.' })
      .refine((value) => lengthOf(value) <= BODY_LENGTH_MAX, {
        params: { rule: 'MaximumLength' },
        message: `At most ${BODY_LENGTH_MAX} characters.`,
      })
      .meta({ maxLength: BODY_LENGTH_MAX, minLength: 1 }),
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

export const Notification = z
  .object({
    id: z.string(),
    kind: z.enum(NotificationKind),
    entityType: z.string(),
    entityId: z.string(),
    entryId: z.string(),
    actorId: z.string(),
    actorDisplayName: z.string(),
    excerpt: z.string(),
    createdAt: Timestamp,
    readAt: Timestamp.nullable(),
  })
  .meta({ id: 'Notification' });

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
