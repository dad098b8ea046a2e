import { bytesOfLongTexts } from '@plinth/http/long-texts';
import { RowQuota, type RowQuotaDeps } from '@plinth/http/row-quota';

/** Wherever a comment is stored: one of a request is in its row and in the history, one of a last vote in both of these. */
const COMMENTS = `(
  SELECT tenant_id, comment FROM move
  UNION ALL SELECT tenant_id, comment FROM approval
  UNION ALL SELECT tenant_id, comment FROM approval_vote
) AS commented`;

/** Of the long comments of a tenant, as `rowsWithComment` tells how often each is stored. */
export const commentQuotaOf = (deps: Pick<RowQuotaDeps, 'db' | 'log' | 'metrics' | 'limit'>): RowQuota =>
  new RowQuota({
    ...deps,
    table: COMMENTS,
    ...bytesOfLongTexts('comment'),
    quota: 'workflow-long-comment-bytes',
    what: 'bytes in long comments on transitions',
    // About as much as one request brings.
    uncountedMin: 2_000_000,
  });
