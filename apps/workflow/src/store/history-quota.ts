import { RowQuota, type RowQuotaDeps } from '@plinth/http/row-quota';

/** A request that many vote on and that is withdrawn leaves all of their votes. */
const ROWS = `(SELECT tenant_id FROM move UNION ALL SELECT tenant_id FROM approval_vote) AS recorded`;

/** Of the history of a tenant's entities, with the votes on its requests. */
export const historyQuotaOf = (deps: Pick<RowQuotaDeps, 'db' | 'log' | 'metrics' | 'limit'>): RowQuota =>
  new RowQuota({ ...deps, table: ROWS, quota: 'workflow-history', what: 'rows of workflow history' });
