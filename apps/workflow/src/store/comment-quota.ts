import { bytesOfColumns, bytesOfLongRows, bytesOfTexts, longBytes } from '@plinth/http/long-texts';
import { RowQuota, type RowQuotaDeps } from '@plinth/http/row-quota';
import { rowsWithComment, type TransitionEvent } from '../domain/change';
import type { TransitionCommand } from '../domain/transition';

/**
 * How often type and id of the entity are stored with a comment: of the first move of an entity in two rows and their keys,
 * of a request in its row and in an index while it is open.
 */
const COPIES_OF_NAMES = { move: 4, approval: 2 };
const NAMES = bytesOfColumns('entity_type', 'entity_id');
const COMMENT = bytesOfColumns("coalesce(comment, '')");

const longIn = (table: string, bytes: string): string =>
  `SELECT tenant_id, ${bytes} AS bytes FROM ${table} WHERE ${bytesOfLongRows(bytes).where}`;

/** Wherever a comment is stored: one of a request is in its row and in the history, one of a last vote in both of these. */
const COMMENTS = `(
  ${longIn('move', `${COPIES_OF_NAMES.move} * (${NAMES}) + ${COMMENT}`)}
  UNION ALL ${longIn('approval', `${COPIES_OF_NAMES.approval} * (${NAMES}) + ${COMMENT}`)}
  UNION ALL ${longIn('approval_vote', bytesOfColumns('comment'))}
) AS commented`;

/** Of the comments of a tenant that are long, or are with the names of their entity. */
export const commentQuotaOf = (deps: Pick<RowQuotaDeps, 'db' | 'log' | 'metrics' | 'limit'>): RowQuota =>
  new RowQuota({
    ...deps,
    table: COMMENTS,
    measure: 'sum(bytes)',
    quota: 'workflow-long-comment-bytes',
    what: 'bytes in transitions with long comments or names of entities',
    // About as much as one request brings.
    uncountedMin: 6_000_000,
  });

/** What an event takes of that quota. */
export function bytesOfComment(
  event: TransitionEvent,
  { entityType, entityId, comment }: Pick<TransitionCommand, 'entityType' | 'entityId' | 'comment'>,
): number {
  const copiesIn: Record<string, number> = COPIES_OF_NAMES;
  return rowsWithComment(event)
    .map((row) => (copiesIn[row] ?? 0) * bytesOfTexts(entityType, entityId) + bytesOfTexts(comment ?? ''))
    .reduce((sum, bytes) => sum + longBytes(bytes), 0);
}
