import type { Approval } from '../domain/approval';

/** Schedules the timers of approvals. Where it fails, the background task processes them a little later. */
export interface ApprovalSchedule {
  start(tenantId: string, approval: Approval): void;
  end(approval: Approval): void;
}
