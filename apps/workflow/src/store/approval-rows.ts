import type { Approval } from '../domain/approval';

/** A row of `approval` as the domain speaks of it. */
export const toApproval = (row: Approval & { tenantId: string }): Approval => ({
  id: row.id,
  entityType: row.entityType,
  entityId: row.entityId,
  transitionName: row.transitionName,
  formerState: row.formerState,
  targetState: row.targetState,
  requestedBy: row.requestedBy,
  requestedByName: row.requestedByName,
  requestedAt: row.requestedAt,
  comment: row.comment,
  approverPermission: row.approverPermission,
  approverUsers: row.approverUsers,
  needed: row.needed,
  remindAt: row.remindAt,
  escalateAt: row.escalateAt,
  escalatePermission: row.escalatePermission,
  escalateUsers: row.escalateUsers,
  isReminded: row.isReminded,
  isEscalated: row.isEscalated,
  expiresAt: row.expiresAt,
});
