import type { Clock } from '@plinth/kernel/clock';
import { Problem } from '@plinth/kernel/problem';
import { backgroundTask } from '@plinth/runtime/process/background-task';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import { CallNotSent } from '@plinth/runtime/rpc/grpc';
import type { ApprovalStore, DueVerification } from '../store/approval-store';
import type { TransitionService } from './transition-service';

/** How many owners are asked at once. */
const PLACES = 4;
/** Of one tenant, before the next one has its turn. */
const TURN_SIZE = 20;
/** For so long an owner that could not be asked is asked about no other request. */
const UNAVAILABLE_MILLISECONDS = 30_000;
/** After that a request is verified again where its owner could not be asked, or whoever asked it ended. */
const CLAIM_MILLISECONDS = 60_000;

/** Requests of one tenant that are verified now. */
interface Turn {
  tenantId: string;
  left: Iterable<DueVerification>;
  isOver: boolean;
}

/**
 * Verifies open requests whose entity may be gone, beside the steps of time: an owner that does not respond delays no
 * expiry or reminder. Each is verified by one process at a time.
 */
export class Verifications {
  /** By entity type and tenant: until when its owner is not asked, as milliseconds, since it could not be. */
  private readonly unavailableUntil = new Map<string, Map<string, number>>();

  constructor(
    private readonly deps: {
      approvals: Pick<ApprovalStore, 'tenantsToVerify' | 'claimVerifications'>;
      transitions: Pick<TransitionService, 'verify'>;
      clock: Clock;
      log: Log;
    },
  ) {}

  /**
   * Verifies requests of all tenants, of each as many as it has in one turn; returns whether more may be due.
   * @param signal ends it behind the requests that are being verified
   */
  async verifyDue(signal?: AbortSignal): Promise<boolean> {
    const { approvals, clock } = this.deps;
    let isMoreDue = false;
    for (const tenantId of await approvals.tenantsToVerify(clock.now())) {
      if (signal?.aborted) return false;
      const now = clock.now();
      const until = new Date(now.getTime() + CLAIM_MILLISECONDS);
      this.forgetUnavailable(now);
      const without = [...this.unavailableUntil.keys()].filter((type) => this.isUnavailable(type, tenantId));
      const claimed = await approvals.claimVerifications(tenantId, now, { until, without, limit: TURN_SIZE });
      const turn = { tenantId, left: claimed.values(), isOver: false };
      await Promise.all(Array.from({ length: PLACES }, () => this.verifyEach(turn, signal)));
      isMoreDue ||= claimed.length === TURN_SIZE;
    }
    return isMoreDue;
  }

  private forgetUnavailable(now: Date): void {
    for (const [entityType, tenants] of this.unavailableUntil) {
      for (const [tenantId, until] of tenants) if (until <= now.getTime()) tenants.delete(tenantId);
      if (tenants.size === 0) this.unavailableUntil.delete(entityType);
    }
  }

  /** What fails for one tenant may be what that does itself; an owner that fails for two is away for all. */
  private isUnavailable(entityType: string, tenantId: string): boolean {
    const tenants = this.unavailableUntil.get(entityType);
    return tenants !== undefined && (tenants.has(tenantId) || tenants.size > 1);
  }

  private async verifyEach(turn: Turn, signal: AbortSignal | undefined): Promise<void> {
    for (const verification of turn.left) {
      if (turn.isOver || signal?.aborted) return;
      if (!this.isUnavailable(verification.entityType, turn.tenantId))
        await this.tryVerify(turn, verification);
    }
  }

  private async tryVerify(turn: Turn, verification: DueVerification): Promise<void> {
    const { tenantId } = turn;
    const { id, entityType } = verification;
    try {
      await this.deps.transitions.verify(tenantId, verification);
    } catch (error) {
      // The tenant has too many calls, which says nothing about the owner; others wait for it.
      if (error instanceof CallNotSent) turn.isOver = true;
      const isAway =
        error instanceof Problem && error.kind === 'overloaded' && !(error instanceof CallNotSent);
      if (!isAway) {
        this.deps.log.warn({ err: error, approval: id }, 'verifying a request failed; will retry');
        return;
      }
      // The calls that are on their way at the first one fail too.
      if (this.isUnavailable(entityType, tenantId)) return;
      const tenants = this.unavailableUntil.get(entityType) ?? new Map<string, number>();
      tenants.set(tenantId, this.deps.clock.now().getTime() + UNAVAILABLE_MILLISECONDS);
      this.unavailableUntil.set(entityType, tenants);
      this.deps.log.warn(
        { err: error, entityType },
        'requests cannot be verified: the owner of their entities is unavailable; will retry',
      );
    }
  }
}

/** Verifies at an interval what is to be verified. */
export function startVerifications(
  { verifications }: { verifications: Pick<Verifications, 'verifyDue'> },
  seconds: number,
  log: Log,
): Close {
  const closing = new AbortController();
  const task = backgroundTask(() => verifications.verifyDue(closing.signal), {
    name: 'verification of requests',
    intervalMilliseconds: seconds * 1_000,
    log,
  });
  return () => {
    closing.abort();
    return task.close();
  };
}
