import { SEARCH_LENGTH_MAX, type ListRules } from '@plinth/kernel/list-query';
import { z } from 'zod';
import { authenticated, endpoint, permission } from '../endpoint';
import { commaSeparated, EntityTypeInPath, Id, ID_PATTERN, text } from '../schemas';
import {
  FOLLOWERS_OF_ENTITY_MAX,
  attachableTypes,
  BlobInfo,
  BLOBS_LISTED_MAX,
  CreateTimelineEntryRequest,
  EntityId,
  MentionSuggestion,
  NotificationPage,
  PEOPLE_MAX,
  SUGGESTIONS_MAX,
  TimelineStreamEntry,
  TimelineStreamPage,
  UnreadCount,
} from './shapes';

const ofEntity = z.object({ entityType: EntityTypeInPath, entityId: EntityId });
const ofEntry = ofEntity.extend({ id: Id });
const UserId = text(255, 1);
const ofFollower = ofEntity.extend({ userId: UserId });
const byId = z.object({ id: Id });

const entryList: ListRules = {
  filterable: {},
  sortable: ['createdAt'],
  defaultSort: '-createdAt',
  searchable: [],
  cursor: true,
};

const notificationList: ListRules = { ...entryList, quickFilters: ['unread'] };

const getTimeline = endpoint({
  method: 'GET',
  path: '/timeline/:entityType/:entityId',
  summary: 'Read what happened to an entity, newest first',
  description:
    'The stream is flat: a reply to an entry carries its id as `parentEntryId`. Internal notes are there only for ' +
    'callers with `Timeline.InternalNotes.Read`; for others neither entries, counts nor cursors reveal them. ' +
    'System logs are in the culture of the reader.',
  access: permission('Timeline.Entries.Read'),
  params: ofEntity,
  list: entryList,
  success: { status: 200, body: TimelineStreamPage },
  cache: 'list',
});

const watchTimeline = endpoint({
  method: 'GET',
  path: '/timeline/:entityType/:entityId/events',
  summary: 'Learn at once when the stream of an entity changes, as server-sent events',
  description:
    'Each event is named `changed` and carries `newestEntryId`, which may be null, and `totalCount`, as the caller sees ' +
    'the stream. The first one comes at once, so that a client that reconnects knows whether it missed something.',
  access: permission('Timeline.Entries.Read'),
  params: ofEntity,
  success: { status: 200, events: true },
  cache: 'none',
});

const postTimelineEntry = endpoint({
  method: 'POST',
  path: '/timeline/:entityType/:entityId/entries',
  summary: 'Write a comment or an internal note',
  description:
    'A mention is written `@[display name](user:id)`; the people mentioned are notified and follow the entity from then on.',
  access: permission('Timeline.Entries.Create'),
  params: ofEntity,
  body: CreateTimelineEntryRequest,
  success: { status: 201, body: TimelineStreamEntry },
  problems: ['quota-exceeded'],
});

const getTimelineEntry = endpoint({
  method: 'GET',
  path: '/timeline/:entityType/:entityId/entries/:id',
  summary: 'Read one entry',
  access: permission('Timeline.Entries.Read'),
  params: ofEntry,
  success: { status: 200, body: TimelineStreamEntry },
  problems: ['entry-not-found'],
  cache: 'user-data',
});

const deleteTimelineEntry = endpoint({
  method: 'DELETE',
  path: '/timeline/:entityType/:entityId/entries/:id',
  summary: 'Remove an entry',
  description: 'For its author and for callers with `Timeline.Entries.Manage`. Replies to the entry stay.',
  access: authenticated,
  params: ofEntry,
  success: { status: 204 },
  problems: ['entry-not-found', 'entry-of-someone-else', 'system-log-kept'],
});

const followEntity = endpoint({
  method: 'POST',
  path: '/timeline/:entityType/:entityId/follow',
  summary: 'Follow an entity',
  access: permission('Timeline.Entries.Read'),
  params: ofEntity,
  body: z.unknown().nullish(),
  success: { status: 204 },
});

const unfollowEntity = endpoint({
  method: 'DELETE',
  path: '/timeline/:entityType/:entityId/follow',
  summary: 'Stop following an entity',
  access: permission('Timeline.Entries.Read'),
  params: ofEntity,
  success: { status: 204 },
});

const getFollowers = endpoint({
  method: 'GET',
  path: '/timeline/:entityType/:entityId/followers',
  summary: 'List the user ids of those who follow an entity',
  access: permission('Timeline.Entries.Read'),
  params: ofEntity,
  success: {
    status: 200,
    body: z
      .array(z.string())
      .max(FOLLOWERS_OF_ENTITY_MAX)
      .meta({ examples: [['ada', 'charles']] }),
  },
  cache: 'list',
});

const putFollower = endpoint({
  method: 'PUT',
  path: '/timeline/:entityType/:entityId/followers/:userId',
  summary: 'Make another person follow an entity',
  access: permission('Timeline.Followers.Manage'),
  params: ofFollower,
  success: { status: 204 },
  problems: ['person-not-found'],
});

const deleteFollower = endpoint({
  method: 'DELETE',
  path: '/timeline/:entityType/:entityId/followers/:userId',
  summary: 'Make another person stop following an entity',
  access: permission('Timeline.Followers.Manage'),
  params: ofFollower,
  success: { status: 204 },
});

const getMentionSuggestions = endpoint({
  method: 'GET',
  path: '/timeline/mentions',
  summary: 'Suggest people to mention, best match first',
  description: `At most ${SUGGESTIONS_MAX} people who were seen in the tenant.`,
  access: permission('Timeline.Entries.Read'),
  query: z.object({ search: text(SEARCH_LENGTH_MAX).optional() }),
  success: { status: 200, body: z.array(MentionSuggestion) },
  cache: 'list',
});

const getPeople = endpoint({
  method: 'GET',
  path: '/timeline/people',
  summary: 'Read the names of people by their ids',
  description: 'Those of them who were seen in the tenant, in the order of the request.',
  access: permission('Timeline.Entries.Read'),
  query: z.object({
    ids: commaSeparated(UserId, PEOPLE_MAX).meta({
      description: 'Separated by commas',
      examples: ['charles,ada'],
    }),
  }),
  success: { status: 200, body: z.array(MentionSuggestion) },
  cache: 'list',
});

const getNotifications = endpoint({
  method: 'GET',
  path: '/notifications',
  summary: 'List my notifications, newest first',
  description:
    'The quick filter `unread` leaves out what was marked as read. Notifications are there only for callers with ' +
    '`Timeline.Entries.Read`, and those of internal notes only with `Timeline.InternalNotes.Read`.',
  access: authenticated,
  list: notificationList,
  success: { status: 200, body: NotificationPage },
  cache: 'list',
});

const getUnreadCount = endpoint({
  method: 'GET',
  path: '/notifications/unread-count',
  aliases: ['/notifications/unread/count'],
  summary: 'Count my unread notifications',
  access: authenticated,
  success: { status: 200, body: UnreadCount },
  cache: 'user-data',
});

const streamNotifications = endpoint({
  method: 'GET',
  path: '/notifications/stream',
  summary: 'Receive my notifications at once, as server-sent events',
  description:
    'Each event is named `notification` and carries a Notification. A client that reconnects with `Last-Event-ID` ' +
    'gets missed notifications first. Notifications that the list does not show are not sent either.',
  access: authenticated,
  success: { status: 200, events: true },
  cache: 'none',
});

const readNotification = endpoint({
  method: 'POST',
  path: '/notifications/:id/read',
  summary: 'Mark a notification as read',
  access: authenticated,
  params: byId,
  body: z.unknown().nullish(),
  success: { status: 204 },
  problems: ['notification-not-found'],
});

const readAllNotifications = endpoint({
  method: 'POST',
  path: '/notifications/read-all',
  summary: 'Mark all my notifications as read',
  access: authenticated,
  body: z.unknown().nullish(),
  success: { status: 204 },
});

const postBlob = endpoint({
  method: 'POST',
  path: '/blobs',
  summary: 'Upload a file to attach to an entry',
  description: 'One part, named `file`. The type of the file is judged by its content.',
  access: permission('Timeline.Entries.Create'),
  upload: true,
  success: { status: 201, body: BlobInfo },
  problems: ['blob-too-large', 'blob-type-not-accepted'],
  rateLimitClass: 'expensive',
});

const getBlobs = endpoint({
  method: 'GET',
  path: '/blobs',
  summary: 'Read the names, types and sizes of attached files by their ids',
  description: 'Those of them that the caller may download, in the order of the request.',
  access: permission('Timeline.Entries.Read'),
  query: z.object({
    ids: commaSeparated(Id, BLOBS_LISTED_MAX, ID_PATTERN).meta({
      description: 'Separated by commas',
      examples: ['01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55'],
    }),
  }),
  success: { status: 200, body: z.array(BlobInfo) },
  cache: 'list',
});

const getBlob = endpoint({
  method: 'GET',
  path: '/blobs/:id',
  summary: 'Download an attached file',
  description: 'For its uploader, and for callers who may see an entry that it is attached to.',
  access: permission('Timeline.Entries.Read'),
  params: byId,
  success: { status: 200, file: attachableTypes },
  problems: ['blob-not-found'],
  cache: 'user-data',
  etag: true,
  ranges: true,
});

export const timelineEndpoints = {
  getTimeline,
  watchTimeline,
  postTimelineEntry,
  getTimelineEntry,
  deleteTimelineEntry,
  followEntity,
  unfollowEntity,
  getFollowers,
  putFollower,
  deleteFollower,
  getMentionSuggestions,
  getPeople,
  getNotifications,
  getUnreadCount,
  streamNotifications,
  readNotification,
  readAllNotifications,
  postBlob,
  getBlobs,
  getBlob,
};
