import { defineProblems } from '@plinth/kernel/problem';

export const timelineProblems = defineProblems({
  'entry-not-found': {
    kind: 'not-found',
    title: 'Entry not found',
    explanation:
      'The timeline of this entity has no entry of this id that you may see. It may have been removed.',
  },
  'entry-of-someone-else': {
    kind: 'forbidden',
    title: 'Entry of someone else',
    explanation: 'Only its author and callers with Timeline.Entries.Manage may remove an entry.',
  },
  'system-log-kept': {
    kind: 'forbidden',
    title: 'System logs are kept',
    explanation: 'What the system recorded cannot be removed, by anyone.',
  },
  'internal-note-not-allowed': {
    kind: 'forbidden',
    title: 'Internal notes are for staff',
    explanation: 'Writing an internal note takes the permission Timeline.InternalNotes.Create.',
  },
  'person-not-found': {
    kind: 'not-found',
    title: 'Person not found',
    explanation: 'No person with this user id has called in your tenant yet.',
  },
  'notification-not-found': {
    kind: 'not-found',
    title: 'Notification not found',
    explanation: 'You have no notification of this id. It may have been removed with its entry.',
  },
  'blob-not-found': {
    kind: 'not-found',
    title: 'File not found',
    explanation: 'There is no file of this id that you may see.',
  },
  'blob-too-large': {
    kind: 'too-large',
    title: 'File too large',
    explanation: 'The file is larger than an attachment may be. Nothing of it was stored.',
  },
  'blob-type-not-accepted': {
    kind: 'unsupported-media-type',
    title: 'Type of file not accepted',
    explanation:
      'Judged by its content the file is a program or of another type that is not accepted as an attachment. Nothing of it was stored.',
  },
});
