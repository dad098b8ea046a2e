import type { Clock } from '@plinth/kernel/clock';
import { backgroundTask } from '@plinth/runtime/process/background-task';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import {
  dueStep,
  nextStepAt,
  TIMER_MILLISECONDS_MAX,
  timerOf,
  type Approval,
  type TimerStep,
} from '../domain/approval';
import type { ApprovalStore, DueApproval } from '../store/approval-store';
import type { ApprovalSchedule } from './approval-schedule';
import type { TransitionService } from './transition-service';

const BATCH_SIZE = 100;
/** Of one tenant, before the next one has its turn. */
const TURN_SIZE = 10;
/** Each step is performed once, so that this many mean that something is wrong. */
const STEPS_MAX = 10;

/** Reminders, escalations and expiries of approvals. Each happens once, even where several processes find it due. */
export class ApprovalTimers {
  /** Steps until then have timers, as far as this process knows. */
  private timersUntil: Date | undefined;
  /**
   * Where the next turn of a tenant begins, by tenant: what failed is tried again only behind all others that are due.
   */
  private readonly lastOfTurn = new Map<string, DueApproval>();

  constructor(
    private readonly deps: {
      approvals: ApprovalStore;
      schedule: Pick<ApprovalSchedule, 'start'>;
      transitions: Pick<TransitionService, 'expire'>;
      clock: Clock;
      log: Log;
    },
  ) {}

  /**
   * Performs the steps that are due for one approval; returns the milliseconds to the next, or null where none comes
   * soon.
   */
  async processDueSteps(tenantId: string, approvalId: string): Promise<number | null> {
    for (let performed = 0; performed < STEPS_MAX; performed++) {
      const approval = await this.deps.approvals.findOpen(tenantId, approvalId);
      if (!approval) return null;
      const now = this.deps.clock.now();
      const step = dueStep(approval, now);
      if (step === undefined) return timerOf(approval, now);
      const waitMilliseconds = await this.perform(step, tenantId, approval);
      if (waitMilliseconds !== undefined) return waitMilliseconds;
    }
    throw new Error(`the steps that are due for approval ${approvalId} do not end`);
  }

  /**
   * Performs steps that are due for approvals of all tenants, of each as many as it has in one turn; returns whether
   * more may be due.
   * @param signal ends it behind the step that is being performed; the others are due for whichever process looks next
   */
  async processAllDueSteps(signal?: AbortSignal): Promise<boolean> {
    const now = this.deps.clock.now();
    let isMoreDue = false;
    for (const tenantId of await this.deps.approvals.tenantsWithDue(now)) {
      if (signal?.aborted) return false;
      const due = await this.deps.approvals.findDue(tenantId, now, this.lastOfTurn.get(tenantId), TURN_SIZE);
      for (const { id } of due) {
        if (signal?.aborted) return false;
        await this.tryDueSteps(tenantId, id);
      }
      const last = due.at(-1);
      if (last) this.lastOfTurn.set(tenantId, last);
      isMoreDue ||= due.length === TURN_SIZE;
    }
    // What failed is tried again the next time, when all have had their turns.
    if (!isMoreDue) this.lastOfTurn.clear();
    return isMoreDue;
  }

  private async tryDueSteps(tenantId: string, id: string): Promise<void> {
    try {
      await this.processDueSteps(tenantId, id);
    } catch (error) {
      // One error does not delay the other approvals.
      this.deps.log.warn({ err: error, approval: id }, 'timers of an approval failed; will retry');
    }
  }

  /** Starts timers for the steps of all tenants that come soon; returns whether there may be more. */
  async startTimers(): Promise<boolean> {
    const now = this.deps.clock.now();
    const until = new Date(now.getTime() + TIMER_MILLISECONDS_MAX);
    const coming = await this.deps.approvals.findComing(this.timersUntil ?? now, until, BATCH_SIZE);
    await Promise.all(coming.map(({ tenantId, approval }) => this.deps.schedule.start(tenantId, approval)));
    const isFull = coming.length === BATCH_SIZE;
    this.timersUntil = (isFull && nextStepAt(coming.at(-1)!.approval)) || until;
    return isFull;
  }

  /** Returns the milliseconds after which it is to be tried again, where it cannot be performed yet. */
  private async perform(step: TimerStep, tenantId: string, approval: Approval): Promise<number | undefined> {
    switch (step) {
      case 'remind':
        await this.deps.approvals.remind(tenantId, approval);
        return undefined;
      case 'escalate':
        await this.deps.approvals.escalate(tenantId, approval);
        return undefined;
      case 'expire': {
        const { entityType, entityId } = approval;
        return this.deps.transitions.expire(tenantId, { entityType, entityId }, approval.id);
      }
    }
  }
}

/** Starts the timers that come soon at an interval, and processes overdue steps, for the time when Temporal is away. */
export function startApprovalTimers(
  { approvalTimers }: { approvalTimers: ApprovalTimers },
  seconds: number,
  log: Log,
): Close {
  const intervalMilliseconds = seconds * 1_000;
  const closing = new AbortController();
  // Apart, since Temporal may be away just when steps are overdue.
  const tasks = [
    backgroundTask(() => approvalTimers.processAllDueSteps(closing.signal), {
      name: 'overdue steps of approvals',
      intervalMilliseconds,
      log,
    }),
    backgroundTask(() => approvalTimers.startTimers(), {
      name: 'timers of approvals',
      intervalMilliseconds,
      log,
    }),
  ];
  return async () => {
    closing.abort();
    await Promise.all(tasks.map((task) => task.close()));
  };
}
