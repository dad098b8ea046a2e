import type { ApprovalTimers } from '../app/approval-timers';

export const createActivities = ({ approvalTimers }: { approvalTimers: ApprovalTimers }) => ({
  /** Processes the steps that are due; returns the milliseconds until the next one, or null where none comes soon. */
  takeDueSteps: (tenantId: string, approvalId: string) =>
    approvalTimers.processDueSteps(tenantId, approvalId),
});

export type Activities = ReturnType<typeof createActivities>;
