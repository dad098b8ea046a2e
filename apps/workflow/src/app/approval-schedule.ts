import type { Approval } from '../domain/approval';

/**
 * Schedules timers for what is due soon. Where it fails, which is only logged, the background task processes it a
 * little later. The promises tell when it was tried.
 */
export interface ApprovalSchedule {
  start(tenantId: string, approval: Approval): Promise<void>;
  end(tenantId: string, approval: Approval): Promise<void>;
}
