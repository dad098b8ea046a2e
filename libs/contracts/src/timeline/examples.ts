const entry = {
  id: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55',
  entityType: 'Invoice',
  entityId: '4711',
  entryType: 0,
  body: 'The numbers are ready to be looked at, @charles.',
  authorId: 'ada',
  authorDisplayName: 'Ada Lovelace',
  parentEntryId: null,
  createdAt: '2026-11-21T12:00:00.000Z',
  attachmentBlobIds: [],
};

/** Examples of the shapes of timelines, notifications and files, by the names of the shapes. */
export const timelineExamples: Record<string, unknown> = {
  TimelineStreamEntry: entry,
  CreateTimelineEntryRequest: { entryType: 0, body: entry.body },
  MentionSuggestion: { id: 'charles', displayName: 'Charles Babbage' },
  Notification: {
    id: '01939c5e-8d20-7a41-8c11-5e0f7b9a6c02',
    kind: 'Mention',
    entityType: 'Invoice',
    entityId: '4711',
    entryId: entry.id,
    actorId: 'ada',
    actorDisplayName: 'Ada Lovelace',
    title: 'Ada Lovelace mentioned you',
    body: entry.body,
    severity: 'Info',
    excerpt: entry.body,
    createdAt: '2026-11-21T12:00:00.000Z',
    isRead: false,
    readAt: null,
  },
  UnreadCount: { count: 3 },
  BlobInfo: {
    id: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55',
    fileName: 'delivery-note.pdf',
    mimeType: 'application/pdf',
    sizeBytes: 48_213,
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    createdAt: '2026-11-21T12:00:00.000Z',
  },
};
