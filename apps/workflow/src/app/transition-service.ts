import type { RowQuota } from '@plinth/http/row-quota';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { newId } from '@plinth/kernel/uuid';
import { uuidFrom } from '@plinth/kernel/uuid-from';
import { SYSTEM_ACTOR, type Actor } from '../domain/actor';
import { dueStep, type Approval } from '../domain/approval';
import { changeOf, type TransitionEvent } from '../domain/change';
import type { EntitySnapshot } from '../domain/entity-snapshot';
import { entityChangedTooOften, entityTypeUnknown } from '../domain/problems';
import { decide, optionsOf, type Effect, type Option, type TransitionCommand } from '../domain/transition';
import {
  currentStateOf,
  isBeingApproved,
  isOvertaken,
  transitionContextOf,
  type TransitionContext,
} from '../domain/transition-context';
import type { EntityStore, OperationResult } from '../store/entity-store';
import type { ApprovalSchedule } from './approval-schedule';
import type { EntityOwner, EntityOwners, OwnerMoveResult } from './entity-owner';

/** Other requests may change what was read; so many times in a row mean that something is wrong. */
const ATTEMPTS_MAX = 20;

export interface TransitionServiceDeps {
  entities: EntityStore;
  owners: EntityOwners;
  schedule: ApprovalSchedule;
  clock: Clock;
  /** Of the history of a tenant. */
  quota: Pick<RowQuota, 'take'>;
}

type EntityName = Pick<TransitionCommand, 'entityType' | 'entityId'>;

interface Reading {
  snapshot: EntitySnapshot;
  context: TransitionContext;
  /** The result of the first attempt of the operation. */
  first: OperationResult | undefined;
}

/** Reads the state of an entity, lets the domain decide, and saves what it decided. */
export class TransitionService {
  constructor(private readonly deps: TransitionServiceDeps) {}

  /** The current state of an entity, and where this caller may move it. */
  async status(caller: Caller, entity: EntityName): Promise<{ currentState: string; options: Option[] }> {
    const { context } = await this.read(caller, entity);
    const shown = isOvertaken(context) ? { ...context, approval: undefined } : context;
    return { currentState: currentStateOf(shown), options: optionsOf(shown) };
  }

  /**
   * Executes one transition, or returns why it is refused. The decision is about the entity as it was when the request
   * came: where another request moves it meanwhile, this one lost a race and results in `InvalidTransition`.
   * @throws Problem `quota-exceeded` where the tenant has as much history as it may
   */
  async execute(caller: Caller, command: TransitionCommand): Promise<OperationResult> {
    let movesBefore: number | undefined;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const { snapshot, context, first } = await this.read(caller, command, command.operationId);
      if (first) return first;
      movesBefore ??= snapshot.moves;
      if (snapshot.moves !== movesBefore || isBeingApproved(context)) return lostRaceResult(context);
      const overdue = overdueEventOf(context, this.deps.clock.now());
      if (overdue) {
        await this.write(caller.tenantId, command, snapshot, overdue, SYSTEM_ACTOR, null);
        // The caller knew where the owner had moved the entity, but could not know that the request expired.
        if (overdue.kind === 'overtake') movesBefore = undefined;
        continue;
      }
      const result = await this.attempt(caller, command, { snapshot, context });
      if (result) return result;
    }
    throw entityChangedTooOften();
  }

  /** Ends a request for approval that expired. */
  async expire(tenantId: string, entity: EntityName, approvalId: string): Promise<void> {
    const now = this.deps.clock.now();
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const reader = { userId: SYSTEM_ACTOR.userId, now };
      const { snapshot } = await this.deps.entities.read({ tenantId, ...entity }, reader);
      const { approval } = snapshot;
      if (approval?.id !== approvalId || dueStep(approval, now) !== 'expire') return;
      const event = { kind: 'expire' as const, approval };
      if ((await this.write(tenantId, entity, snapshot, event, SYSTEM_ACTOR, null)) === 'committed') return;
    }
  }

  private async read(
    caller: Caller,
    { entityType, entityId }: EntityName,
    operationId?: string,
  ): Promise<Reading> {
    const { tenantId } = caller;
    const owner = this.deps.owners.get(entityType);
    const entity = { entityType, entityId };
    const reading = await this.readEntity(caller, entity, owner ? undefined : operationId);
    const { snapshot } = reading;
    if (!snapshot.definition) throw entityTypeUnknown(entityType);
    const ownerState = await owner?.describe(caller, entity);
    // The owner's answer is a part of what was read.
    const first =
      owner && operationId
        ? await this.deps.entities.findOperation(tenantId, operationId, moveIdOf(tenantId, operationId))
        : reading.first;
    const request = { caller, now: this.deps.clock.now(), approvalId: newId() };
    const { definition } = snapshot.definition;
    const context = transitionContextOf(definition, entityId, snapshot, ownerState, request);
    return { snapshot, context, first };
  }

  private readEntity(
    { tenantId, userId }: Caller,
    { entityType, entityId }: EntityName,
    operationId?: string,
  ) {
    const reader = { userId, now: this.deps.clock.now() };
    return this.deps.entities.read({ tenantId, entityType, entityId }, reader, operationId);
  }

  /** One attempt; undefined when something changed meanwhile, so that the decision must be made again. */
  private async attempt(
    caller: Caller,
    command: TransitionCommand,
    { snapshot, context }: Omit<Reading, 'first'>,
  ): Promise<OperationResult | undefined> {
    const { effect, ...result } = decide(command, context);
    if (!effect) return result;
    this.deps.quota.take(caller.tenantId);

    const owner = this.deps.owners.get(command.entityType);
    if (owner && (effect.kind === 'move' || effect.kind === 'approve'))
      return this.moveByOwner(caller, command, owner, effect, snapshot, result);

    const operation = command.operationId ? { id: command.operationId, result } : undefined;
    const options = { operation };
    const { tenantId } = caller;
    const commit = await this.write(tenantId, command, snapshot, effect, caller, command.comment, options);
    return commit === 'committed' ? result : undefined;
  }

  /** The owner makes the move; the move it made is recorded, even if other changes happen meanwhile. */
  private async moveByOwner(
    caller: Caller,
    command: TransitionCommand,
    owner: EntityOwner,
    effect: Extract<Effect, { kind: 'move' | 'approve' }>,
    before: EntitySnapshot,
    result: OperationResult,
  ): Promise<OperationResult> {
    const { entityType, entityId, comment, operationId } = command;
    const { tenantId } = caller;
    const move = effect.kind === 'move' ? effect : moveOf(effect.approval);
    // Two approvers who complete one request make one move.
    const moveId = effect.kind === 'approve' ? effect.approval.id : moveIdOf(tenantId, operationId);
    const applied = await owner.apply(caller, { entityType, entityId, ...move, moveId, comment });
    if (applied.outcome !== 'MOVED') return refusedMoveResult(applied, shownStateOf(before, applied));
    // The request of the other approver records the move, or the owner's event does.
    if (applied.movedBy !== caller.userId) return { ...result, outcome: 'InvalidTransition' };

    const operation = operationId ? { id: operationId, result } : undefined;
    let snapshot = before;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const event = eventOf(effect, snapshot);
      const options = { operation, ownerMoveId: moveId };
      const commit = await this.write(tenantId, command, snapshot, event, caller, comment, options);
      if (commit === 'committed') return result;
      if (commit === 'made-by-other')
        return { outcome: 'InvalidTransition', resultingState: result.resultingState };
      ({ snapshot } = await this.readEntity(caller, command));
    }
    // The owner's event gets it recorded.
    return result;
  }

  private async write(
    tenantId: string,
    { entityType, entityId }: EntityName,
    snapshot: EntitySnapshot,
    event: TransitionEvent,
    actor: Actor,
    comment: string | null,
    options: { operation?: { id: string; result: OperationResult } | undefined; ownerMoveId?: string } = {},
  ) {
    const at = this.deps.clock.now();
    const { userId, userName } = actor;
    const change = {
      ...changeOf(event, { entityType, entityId, actor: { userId, userName }, comment, at }),
      ...(options.ownerMoveId ? { ownerMoveId: options.ownerMoveId } : {}),
    };
    const commit = await this.deps.entities.commit(tenantId, snapshot, change, options.operation);
    if (commit === 'committed') {
      if (change.opened) this.deps.schedule.start(tenantId, change.opened);
      if (change.ended) this.deps.schedule.end(change.ended.approval);
    }
    return commit;
  }
}

/** How an open request ended already, by time or by the owner, although that is not recorded yet. */
function overdueEventOf(context: TransitionContext, now: Date): TransitionEvent | undefined {
  const { approval } = context;
  if (!approval) return undefined;
  if (isOvertaken(context)) return { kind: 'overtake', approval };
  return dueStep(approval, now) === 'expire' ? { kind: 'expire', approval } : undefined;
}

const lostRaceResult = (context: TransitionContext): OperationResult => ({
  outcome: 'InvalidTransition',
  resultingState: isBeingApproved(context) ? context.state : currentStateOf(context),
});

const refusedMoveResult = ({ outcome }: OwnerMoveResult, resultingState: string): OperationResult => ({
  outcome: outcome === 'DENIED' ? 'Denied' : 'InvalidTransition',
  resultingState,
});

const shownStateOf = ({ approval }: EntitySnapshot, { state }: OwnerMoveResult): string =>
  approval && approval.formerState === state ? 'PendingApproval' : state;

const moveOf = ({ transitionName, formerState, targetState }: Approval) => ({
  transitionName,
  from: formerState,
  to: targetState,
});

/** What the move is in this snapshot: the request that it completes may have ended meanwhile. */
function eventOf(
  effect: Extract<Effect, { kind: 'move' | 'approve' }>,
  { approval }: EntitySnapshot,
): TransitionEvent {
  if (effect.kind === 'move') return effect;
  return approval?.id === effect.approval.id ? effect : { kind: 'move', ...moveOf(effect.approval) };
}

/** The same for every attempt at one operation, so that the owner makes the move once. */
function moveIdOf(tenantId: string, operationId: string | undefined): string {
  return operationId === undefined ? newId() : uuidFrom(`${tenantId}\n${operationId}`, '8');
}
