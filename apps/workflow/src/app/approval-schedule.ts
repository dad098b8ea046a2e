import type { Approval } from '../domain/approval';

/** Schedules timers for what is due soon. Where it fails, the background task processes it a little later. */
export interface ApprovalSchedule {
  start(tenantId: string, approval: Approval): void;
  end(approval: Approval): void;
}
