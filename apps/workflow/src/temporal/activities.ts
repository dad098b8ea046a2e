import type { TimedSteps } from '../machines/timed-steps';

export const createActivities = ({ timedSteps }: { timedSteps: TimedSteps }) => ({
  /** Does what is due and answers how long until the next step, or null when nothing more will be due. */
  takeDueSteps: (tenantId: string, approvalId: string) => timedSteps.take(tenantId, approvalId),
});

export type Activities = ReturnType<typeof createActivities>;
