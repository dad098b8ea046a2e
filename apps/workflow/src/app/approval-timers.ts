import type { Clock } from '@plinth/kernel/clock';
import { backgroundTask } from '@plinth/runtime/process/background-task';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import { dueStep, nextStepAt, type Approval, type TimerStep } from '../domain/approval';
import type { ApprovalStore } from '../store/approval-store';
import type { TransitionService } from './transition-service';

const BATCH_SIZE = 100;
/** Each step is performed once, so that this many mean that something is wrong. */
const STEPS_MAX = 10;

/** Reminders, escalations and expiries of approvals. Each happens once, even where several processes find it due. */
export class ApprovalTimers {
  constructor(
    private readonly deps: {
      approvals: ApprovalStore;
      transitions: Pick<TransitionService, 'expire'>;
      clock: Clock;
      log: Log;
    },
  ) {}

  /** Performs the steps that are due for one approval; returns the milliseconds to the next, or null without one. */
  async processDueSteps(tenantId: string, approvalId: string): Promise<number | null> {
    for (let performed = 0; performed < STEPS_MAX; performed++) {
      const approval = await this.deps.approvals.findOpen(tenantId, approvalId);
      if (!approval) return null;
      const now = this.deps.clock.now();
      const step = dueStep(approval, now);
      if (step === undefined) {
        const next = nextStepAt(approval);
        return next === null ? null : Math.max(1, next.getTime() - now.getTime());
      }
      await this.perform(step, tenantId, approval);
    }
    throw new Error(`the steps that are due for approval ${approvalId} do not end`);
  }

  /** Performs the steps that are due for approvals of all tenants; returns whether more may be due. */
  async processAllDueSteps(): Promise<boolean> {
    const due = await this.deps.approvals.findDue(this.deps.clock.now(), BATCH_SIZE);
    let processed = 0;
    for (const { tenantId, id } of due) {
      try {
        await this.processDueSteps(tenantId, id);
        processed++;
      } catch (error) {
        // One error does not delay the other approvals.
        this.deps.log.warn({ err: error, approval: id }, 'timers of an approval failed; will retry');
      }
    }
    return processed === BATCH_SIZE;
  }

  private async perform(step: TimerStep, tenantId: string, approval: Approval): Promise<void> {
    switch (step) {
      case 'remind':
        return this.deps.approvals.remind(tenantId, approval);
      case 'escalate':
        return this.deps.approvals.escalate(tenantId, approval);
      case 'expire': {
        const { entityType, entityId } = approval;
        return this.deps.transitions.expire(tenantId, { entityType, entityId }, approval.id);
      }
    }
  }
}

/** Processes overdue steps at an interval, for the time when Temporal is away. */
export function startApprovalTimers(
  { approvalTimers }: { approvalTimers: ApprovalTimers },
  seconds: number,
  log: Log,
): Close {
  return backgroundTask(() => approvalTimers.processAllDueSteps(), {
    name: 'processing overdue approvals',
    intervalMilliseconds: seconds * 1_000,
    log,
  }).close;
}
