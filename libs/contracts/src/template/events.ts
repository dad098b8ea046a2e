import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';
import { entityGone, entityMoved } from '../workflow/events';

const template = { name: z.string(), culture: z.string().nullable() };

/** A draft was saved. */
export const templateSaved = eventType(
  'template.saved',
  z.object({ ...template, revisionId: z.uuid(), category: z.string().nullable() }),
);

/** A revision became the published one. */
export const templatePublished = eventType(
  'template.published',
  z.object({ ...template, revisionId: z.uuid() }),
);

/** A draft was deleted; `gone` when nothing published was left. */
export const templateDeleted = eventType(
  'template.draft-deleted',
  z.object({ ...template, revisionId: z.uuid(), gone: z.boolean() }),
);

/** The lifecycle of a template took a step; the workflow service keeps its history. */
export const templateMoved = entityMoved('template');

/** Templates are gone, in whichever way; the workflow service ends their open requests for approval. */
export const templateGone = entityGone('template');

export const templateEvents = [
  templateSaved,
  templatePublished,
  templateDeleted,
  templateMoved,
  templateGone,
];
