import { RowQuota, type RowQuotaDeps } from '@plinth/http/row-quota';

/**
 * Who may decide the open requests of a tenant, as `rowsOfApprovers` counts them: from the beginning also those to whom a
 * request escalates, who have no rows before it does.
 */
const measure = `sum(cardinality(approver_users) + cardinality(escalate_users)
  + 2 * num_nonnulls(approver_permission, escalate_permission))`;

export const approverQuotaOf = (deps: Pick<RowQuotaDeps, 'db' | 'log' | 'metrics' | 'limit'>): RowQuota =>
  new RowQuota({
    ...deps,
    table: 'approval',
    where: '"end" IS NULL',
    measure,
    quota: 'workflow-approvers',
    what: 'people and permissions that may decide open requests for approval',
  });
