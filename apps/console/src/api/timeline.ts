import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import { createClient } from '@plinth/sdk/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { clientOptions } from './platform';
import type { Entity } from './workflow';

export const timeline = createClient(timelineEndpoints, clientOptions);

export type Entry = Awaited<ReturnType<typeof timeline.getTimeline>>['body']['items'][number];
export type AttachedFile = Awaited<ReturnType<typeof timeline.getBlobs>>['body'][number];
/** Attached files by their ids. */
export type Files = ReadonlyMap<string, AttachedFile>;
export type Notification = Awaited<ReturnType<typeof timeline.getNotifications>>['body']['items'][number];
export type Suggestion = Awaited<ReturnType<typeof timeline.getMentionSuggestions>>['body'][number];

export const timelineQuery = (entity: Entity) =>
  infiniteQueryOptions({
    queryKey: ['timeline', entity.entityType, entity.entityId],
    queryFn: async ({ pageParam, signal }) =>
      (await timeline.getTimeline({ params: entity, list: { cursor: pageParam, pageSize: 30 }, signal }))
        .body,
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

export const followersQuery = (entity: Entity) =>
  queryOptions({
    queryKey: ['followers', entity.entityType, entity.entityId],
    queryFn: async ({ signal }) => (await timeline.getFollowers({ params: entity, signal })).body,
  });

export const suggestionsQuery = (search: string) =>
  queryOptions({
    queryKey: ['mentions', search],
    queryFn: async ({ signal }) => (await timeline.getMentionSuggestions({ query: { search }, signal })).body,
    staleTime: 60_000,
  });

const FILES_PER_REQUEST = 100;

/** The attached files of entries, by their ids. */
export const attachmentsQuery = (entries: readonly Entry[]) => {
  const ids = [...new Set(entries.flatMap(({ attachmentBlobIds }) => attachmentBlobIds))];
  return queryOptions({
    queryKey: ['attachments', ids],
    queryFn: async ({ signal }) => {
      const requests = [];
      for (let start = 0; start < ids.length; start += FILES_PER_REQUEST) {
        const some = ids.slice(start, start + FILES_PER_REQUEST).join(',');
        requests.push(timeline.getBlobs({ query: { ids: some }, signal }));
      }
      const files = (await Promise.all(requests)).flatMap(({ body }) => body);
      return files.map((file): [string, AttachedFile] => [file.id, file]);
    },
    enabled: ids.length > 0,
    staleTime: Infinity,
    // Of the entries before another one came.
    placeholderData: (previous) => previous,
  });
};

/** The people with these ids whom the platform knows. */
export const peopleQuery = (ids: readonly string[]) =>
  queryOptions({
    queryKey: ['people', ids],
    queryFn: async ({ signal }) => {
      if (ids.length === 0) return [];
      return (await timeline.getPeople({ query: { ids: ids.join(',') }, signal })).body;
    },
    staleTime: 60_000,
  });

export const notificationsQuery = infiniteQueryOptions({
  queryKey: ['notifications', 'list'],
  queryFn: async ({ pageParam, signal }) =>
    (await timeline.getNotifications({ list: { cursor: pageParam, pageSize: 30 }, signal })).body,
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) => nextCursor,
});

export const unreadCountQuery = queryOptions({
  queryKey: ['notifications', 'count'],
  queryFn: async ({ signal }) => (await timeline.getUnreadCount({ signal })).body.count,
});
