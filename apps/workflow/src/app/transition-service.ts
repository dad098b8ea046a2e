import { setTimeout as pause } from 'node:timers/promises';
import type { RowQuota } from '@plinth/http/row-quota';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { newId } from '@plinth/kernel/uuid';
import { uuidFrom } from '@plinth/kernel/uuid-from';
import { SYSTEM_ACTOR } from '../domain/actor';
import { dueStep, type Approval } from '../domain/approval';
import { changeOf, type Change, type TransitionEvent } from '../domain/change';
import type { DefinitionVersion } from '../domain/definition';
import type { EntitySnapshot } from '../domain/entity-snapshot';
import type { OwnerState } from '../domain/owner-state';
import { entityChangedTooOften, entityTypeUnknown } from '../domain/problems';
import { decide, optionsOf, type Effect, type Option, type TransitionCommand } from '../domain/transition';
import {
  currentStateOf,
  isBeingApproved,
  isOvertaken,
  transitionContextOf,
  type TransitionContext,
} from '../domain/transition-context';
import type { Operation, OperationName } from '../store/entity-statements';
import type { EntityStore, OperationResult, ReadEntity } from '../store/entity-store';
import type { ApprovalSchedule } from './approval-schedule';
import type { EntityOwner, EntityOwners, OwnerMoveResult } from './entity-owner';

/** Other requests may change what was read; so many times in a row mean that something is wrong. */
const ATTEMPTS_MAX = 20;
/** How often, and after how many milliseconds each, an entity is read again whose owner moved it by itself. */
const RECORD_READINGS_MAX = 120;
const RECORD_PAUSE = 25;

export interface TransitionServiceDeps {
  entities: EntityStore;
  owners: EntityOwners;
  schedule: ApprovalSchedule;
  clock: Clock;
  /** Of the history of a tenant. */
  quota: Pick<RowQuota, 'take'>;
}

type EntityName = Pick<TransitionCommand, 'entityType' | 'entityId'>;

interface Reading extends ReadEntity {
  context: TransitionContext;
  /** Whether the owner made moves that are not recorded here yet. */
  isBehind: boolean;
}

/** What a request leads to. Without a result it is decided again when the event is written. */
interface Decided {
  result?: OperationResult | undefined;
  event?: TransitionEvent | undefined;
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
    const owner = this.deps.owners.get(command.entityType);
    let movesBefore: number | undefined;
    let hasRoom = false;
    if (!owner) {
      const tried = await this.executeRecalled(caller, command);
      if (tried.result) return tried.result;
      ({ movesBefore, hasRoom } = tried);
    }
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const decideOn = (reading: Reading): Decided => {
        movesBefore ??= reading.snapshot.moves;
        const decided = this.decideOn(command, reading, movesBefore);
        // Once, however often it is decided.
        if (decided.result && decided.event && !hasRoom) {
          this.deps.quota.take(caller.tenantId);
          hasRoom = true;
        }
        return decided;
      };
      const { result, event } = owner
        ? await this.attemptWithOwner(caller, command, owner, decideOn)
        : await this.attempt(caller, command, decideOn);
      if (result) return result;
      // The caller knew where the owner had moved the entity, but could not know that the request expired. Who agrees to what
      // was changed must not request it by that: then its author could agree.
      if (event?.kind === 'overtake' && (event.isMoved || event.approval.requestedBy === caller.userId))
        movesBefore = undefined;
    }
    throw entityChangedTooOften();
  }

  /**
   * Executes by what this process last saw of the entity, in one round trip. Without a result where the entity must be read:
   * it is not so any more, or the command is refused.
   */
  private async executeRecalled(
    caller: Caller,
    command: TransitionCommand,
  ): Promise<{ result?: OperationResult; movesBefore?: number | undefined; hasRoom: boolean }> {
    const { tenantId } = caller;
    const { entityType, entityId } = command;
    const undecided = { hasRoom: false };
    const snapshot = this.deps.entities.recall({ tenantId, entityType, entityId });
    if (!snapshot) return undecided;
    const reading = this.readingOf(caller, command, { snapshot, first: undefined });
    const { result, event } = this.decideOn(command, reading, snapshot.moves);
    // Who is refused learns how the entity is now.
    if (!result || !event) return undecided;
    try {
      this.deps.quota.take(tenantId);
    } catch {
      // A reading may find that the operation was executed before, which needs no room.
      return undecided;
    }
    const change = this.changeOf(event, command, caller, result);
    const operation = operationOf(command, result);
    const { outcome, movesBefore } = await this.deps.entities.commit(tenantId, snapshot, change, operation);
    if (outcome !== 'committed') return { movesBefore, hasRoom: true };
    this.schedule(tenantId, change);
    return { result, hasRoom: true };
  }

  /** Ends a request for approval that expired. */
  async expire(tenantId: string, entity: EntityName, approvalId: string): Promise<void> {
    const now = this.deps.clock.now();
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const reader = { userId: SYSTEM_ACTOR.userId, now };
      const { snapshot } = await this.deps.entities.read({ tenantId, ...entity }, reader);
      const { approval } = snapshot;
      if (approval?.id !== approvalId || dueStep(approval, now) !== 'expire') return;
      const { userId, userName } = SYSTEM_ACTOR;
      const context = { ...entity, actor: { userId, userName }, comment: null, at: this.deps.clock.now() };
      const change = changeOf({ kind: 'expire', approval }, context);
      if ((await this.write(tenantId, snapshot, change)) === 'committed') return;
    }
  }

  private async read(
    caller: Caller,
    { entityType, entityId }: EntityName,
    operation?: OperationName,
  ): Promise<Reading> {
    const { tenantId } = caller;
    const owner = this.deps.owners.get(entityType);
    const entity = { entityType, entityId };
    const read = await this.readEntity(caller, entity, owner ? undefined : operation);
    if (!owner) return this.readingOf(caller, entity, read);
    requireDefinition(entityType, read.snapshot);
    const ownerState = await owner.describe(caller, entity);
    // The owner's answer is a part of what was read.
    const first =
      operation?.operationId === undefined
        ? undefined
        : await this.deps.entities.findOperation(
            tenantId,
            operation,
            moveIdOf(tenantId, operation.operationId),
          );
    return this.readingOf(caller, entity, { ...read, first }, ownerState);
  }

  /**
   * Reads an entity with an owner as soon as the moves are recorded that the owner made by itself, so that the history has
   * them in their order. Events that take longer, as while NATS is away, are not waited for.
   */
  private async readRecorded(caller: Caller, command: TransitionCommand): Promise<Reading> {
    let reading = await this.read(caller, command, command);
    for (let more = RECORD_READINGS_MAX; reading.isBehind && !reading.first && more > 0; more--) {
      await pause(RECORD_PAUSE);
      reading = await this.read(caller, command, command);
    }
    return reading;
  }

  private readEntity(caller: Caller, { entityType, entityId }: EntityName, operation?: OperationName) {
    const key = { tenantId: caller.tenantId, entityType, entityId };
    return this.deps.entities.read(key, this.readerOf(caller), operation);
  }

  private readerOf = ({ userId }: Caller) => ({ userId, now: this.deps.clock.now() });

  /** @throws Problem `entity-type-unknown` */
  private readingOf(
    caller: Caller,
    { entityType, entityId }: EntityName,
    { snapshot, first }: ReadEntity,
    ownerState?: OwnerState,
  ): Reading {
    const { definition } = requireDefinition(entityType, snapshot);
    const request = { caller, now: this.deps.clock.now(), approvalId: newId() };
    const context = transitionContextOf(definition, entityId, snapshot, ownerState, request);
    // An open request has rules of its own about moves of the owner.
    const isBehind =
      ownerState?.exists === true &&
      !snapshot.approval &&
      ownerState.state !== (snapshot.state ?? definition.initialState);
    return { snapshot, first, context, isBehind };
  }

  /** What a request leads to, for an entity that had been moved so many times when the request came. */
  private decideOn(
    command: TransitionCommand,
    { snapshot, context, first }: Reading,
    movesBefore: number,
  ): Decided {
    if (first) return { result: first };
    if (snapshot.moves !== movesBefore || isBeingApproved(context))
      return { result: lostRaceResult(context) };
    const overdue = overdueEventOf(context, this.deps.clock.now());
    if (overdue) return { event: overdue };
    const { effect, ...result } = decide(command, context);
    return { result, event: effect };
  }

  /** One attempt, in one transaction; without a result when the decision must be made again. */
  private async attempt(
    caller: Caller,
    command: TransitionCommand,
    decideOn: (reading: Reading) => Decided,
  ): Promise<Decided> {
    const { tenantId } = caller;
    const { entityType, entityId } = command;
    const key = { tenantId, entityType, entityId };
    const decided = await this.deps.entities.change(key, this.readerOf(caller), command, (read) => {
      const { result, event } = decideOn(this.readingOf(caller, command, read));
      const change = event && this.changeOf(event, command, caller, result);
      return { result, event, change, operation: operationOf(command, result) };
    });
    if (decided?.change) this.schedule(tenantId, decided.change);
    return decided ?? {};
  }

  /** The same where a service owns the entity, which is asked where it is, and makes the moves. */
  private async attemptWithOwner(
    caller: Caller,
    command: TransitionCommand,
    owner: EntityOwner,
    decideOn: (reading: Reading) => Decided,
  ): Promise<Decided> {
    const { tenantId } = caller;
    const reading = await this.readRecorded(caller, command);
    const { result, event } = decideOn(reading);
    if (!event) return { result };
    if (result && (event.kind === 'move' || event.kind === 'approve'))
      return { result: await this.moveByOwner(caller, command, owner, event, reading.snapshot, result) };
    const change = this.changeOf(event, command, caller, result);
    const commit = await this.write(tenantId, reading.snapshot, change, operationOf(command, result));
    return { result: commit === 'committed' ? result : undefined, event };
  }

  /**
   * The owner makes the move; the move it made is recorded, even if other changes happen meanwhile. Without a result where
   * the entity is not what was approved: the next attempt ends the request.
   */
  private async moveByOwner(
    caller: Caller,
    command: TransitionCommand,
    owner: EntityOwner,
    effect: Extract<Effect, { kind: 'move' | 'approve' }>,
    before: EntitySnapshot,
    result: OperationResult,
  ): Promise<OperationResult | undefined> {
    const { entityType, entityId, comment, operationId } = command;
    const { tenantId } = caller;
    const isApproved = effect.kind === 'approve';
    const move = isApproved ? moveOf(effect.approval) : effect;
    const version = isApproved ? effect.approval.entityVersion : null;
    // Two approvers who complete one request make one move.
    const moveId = isApproved ? effect.approval.id : moveIdOf(tenantId, operationId);
    // What the owner does next, before its response is here, is later than this.
    const at = this.deps.clock.now();
    const applied = await owner.apply(caller, { entityType, entityId, ...move, moveId, comment, version });
    if (applied.outcome === 'VERSION_CHANGED') return undefined;
    if (applied.outcome !== 'MOVED') return refusedMoveResult(applied, shownStateOf(before, applied));
    // The request of the other approver records the move, or the owner's event does.
    if (applied.movedBy !== caller.userId) return { ...result, outcome: 'InvalidTransition' };

    let snapshot = before;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const change = this.changeOf(eventOf(effect, snapshot), command, caller, result, at);
      const made = { ...change, ownerMoveId: moveId };
      const commit = await this.write(tenantId, snapshot, made, operationOf(command, result));
      if (commit === 'committed') return result;
      if (commit === 'made-by-other')
        return { outcome: 'InvalidTransition', resultingState: result.resultingState };
      ({ snapshot } = await this.readEntity(caller, command));
    }
    // The owner's event gets it recorded.
    return result;
  }

  /** Without a result, what happens is the end of a request that is overdue. */
  private changeOf(
    event: TransitionEvent,
    { entityType, entityId, comment }: EntityName & { comment: string | null },
    caller: Caller,
    result: OperationResult | undefined,
    at = this.deps.clock.now(),
  ): Change {
    const { userId, userName } = result ? caller : SYSTEM_ACTOR;
    const context = { entityType, entityId, actor: { userId, userName }, at };
    return changeOf(event, { ...context, comment: result ? comment : null });
  }

  private async write(
    tenantId: string,
    snapshot: EntitySnapshot,
    change: Change,
    operation?: Operation<OperationResult>,
  ) {
    const { outcome } = await this.deps.entities.commit(tenantId, snapshot, change, operation);
    if (outcome === 'committed') this.schedule(tenantId, change);
    return outcome;
  }

  private schedule(tenantId: string, { opened, ended }: Change): void {
    if (opened) this.deps.schedule.start(tenantId, opened);
    // Those of one that expired end by themselves.
    if (ended && ended.end !== 'Expired') this.deps.schedule.end(ended.approval);
  }
}

/** @throws Problem `entity-type-unknown` */
function requireDefinition(entityType: string, { definition }: EntitySnapshot): DefinitionVersion {
  if (!definition) throw entityTypeUnknown(entityType);
  return definition;
}

/** Records a result under the operation of its command. */
const operationOf = (
  { operationId, operationBodyHash }: TransitionCommand,
  result: OperationResult | undefined,
): Operation<OperationResult> | undefined =>
  operationId !== undefined && result ? { operationId, operationBodyHash, result } : undefined;

/** How an open request ended already, by time or by the owner, although that is not recorded yet. */
function overdueEventOf(context: TransitionContext, now: Date): TransitionEvent | undefined {
  const { approval } = context;
  if (!approval) return undefined;
  if (isOvertaken(context))
    return { kind: 'overtake', approval, isMoved: approval.formerState !== context.state };
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
