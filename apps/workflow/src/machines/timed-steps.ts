import type { Clock } from '@plinth/kernel/clock';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import { sweepRegularly } from '@plinth/runtime/sweep-regularly';
import { dueStep, nextStepAt, type Approval, type TimedStep } from '../domain/approval';
import type { ApprovalStore } from '../store/approval-store';
import type { EntityStore } from '../store/entity-store';
import type { Machine } from './machine';

const SWEEP_SIZE = 100;
/** Each step is done once, so that more rounds than steps mean that something is wrong. */
const ROUNDS_MAX = 10;

/** Does to requests for approval what time does: reminder, escalation, expiry. Each happens once, whoever asks. */
export class TimedSteps {
  constructor(
    private readonly deps: {
      approvals: ApprovalStore;
      machine: Pick<Machine, 'expire'>;
      clock: Clock;
      log: Log;
    },
  ) {}

  /** Does what is due for one request; answers the milliseconds to the next step, or null when there is none. */
  async take(tenantId: string, approvalId: string): Promise<number | null> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const approval = await this.deps.approvals.findOpen(tenantId, approvalId);
      if (!approval) return null;
      const now = this.deps.clock.now();
      const step = dueStep(approval, now);
      if (step === undefined) {
        const next = nextStepAt(approval);
        return next === null ? null : Math.max(1, next.getTime() - now.getTime());
      }
      await this.do(step, tenantId, approval);
    }
    throw new Error(`What is due for the approval ${approvalId} cannot be done.`);
  }

  /** Does what is due for requests of all tenants; answers whether more may be due. */
  async takeAll(): Promise<boolean> {
    const due = await this.deps.approvals.findDue(this.deps.clock.now(), SWEEP_SIZE);
    let done = 0;
    for (const { tenantId, id } of due) {
      try {
        await this.take(tenantId, id);
        done++;
      } catch (error) {
        // One that cannot be dealt with does not keep the others waiting.
        this.deps.log.warn({ err: error, approval: id }, 'what is due for an approval could not be done');
      }
    }
    return done === SWEEP_SIZE;
  }

  private async do(step: TimedStep, tenantId: string, approval: Approval): Promise<void> {
    switch (step) {
      case 'remind':
        return this.deps.approvals.remind(tenantId, approval);
      case 'escalate':
        return this.deps.approvals.escalate(tenantId, approval);
      case 'expire': {
        const { entityType, entityId } = approval;
        return this.deps.machine.expire(tenantId, { entityType, entityId }, approval.id);
      }
    }
  }
}

/** Operations are repeated within a day (`Idempotency-Key`). */
const OPERATIONS_KEPT_MILLISECONDS = 2 * 86_400_000;

/** Looks for what is overdue now and then, for the time when Temporal is away or forgot something. */
export function startSweeper(
  { timedSteps, entities, clock }: { timedSteps: TimedSteps; entities: EntityStore; clock: Clock },
  seconds: number,
  log: Log,
): Close {
  const takeOverdueSteps = async (): Promise<void> => {
    while (await timedSteps.takeAll());
    await entities.forgetOperationsBefore(new Date(clock.now().getTime() - OPERATIONS_KEPT_MILLISECONDS));
  };
  return sweepRegularly(takeOverdueSteps, seconds, log);
}
