import type { Entity } from '../api/workflow';

/** What is written: to an entity's timeline, or to a change of its state. */
type Draft = 'comment' | 'reason';

/**
 * By what a draft is kept: of one person, for one entity, or about one thing of it, as the entry that is replied to. No two
 * of these have the same.
 */
export const draftName = (
  draft: Draft,
  { tenantId, userId }: { tenantId: string; userId: string },
  { entityType, entityId }: Entity,
  about?: string,
): string => JSON.stringify([draft, tenantId, userId, entityType, entityId, ...(about ? [about] : [])]);
