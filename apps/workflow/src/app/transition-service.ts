import { setTimeout as pause } from 'node:timers/promises';
import type { RowQuota } from '@plinth/http/row-quota';
import { BesideOpenTransaction } from '@plinth/runtime/postgres/beside-transaction';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { newId } from '@plinth/kernel/uuid';
import { uuidFrom } from '@plinth/kernel/uuid-from';
import { CallNotSent } from '@plinth/runtime/rpc/grpc';
import { SYSTEM_ACTOR } from '../domain/actor';
import { dueStep, rowsOfApprovers, seatLeft, type Approval } from '../domain/approval';
import { changeOf, type Change, type TransitionEvent } from '../domain/change';
import type { DefinitionVersion } from '../domain/definition';
import { isBeingMoved, type EntitySnapshot } from '../domain/entity-snapshot';
import type { OwnerState } from '../domain/owner-state';
import { entityChangedTooOften, entityTypeUnknown } from '../domain/problems';
import { decide, optionsOf, type Effect, type Option, type TransitionCommand } from '../domain/transition';
import {
  currentStateOf,
  isBeingApproved,
  isOtherVersion,
  isOvertaken,
  transitionContextOf,
  type TransitionContext,
} from '../domain/transition-context';
import type { ApprovalStore, DueVerification } from '../store/approval-store';
import { bytesOfComment } from '../store/comment-quota';
import type { Operation, OperationName } from '../store/entity-statements';
import type { EntityStore, OperationResult, ReadEntity } from '../store/entity-store';
import type { ApprovalSchedule } from './approval-schedule';
import type { EntityOwner, EntityOwners, OwnerMoveResult } from './entity-owner';

/** Other requests may change what was read; so many times in a row mean that something is wrong. */
const ATTEMPTS_MAX = 20;
/**
 * After how many milliseconds each an entity is read again whose owner moved it by itself: mostly its event is on its
 * way and here at once, but sometimes none will come.
 */
const RECORD_PAUSES = [25, 50, 100, 200, 400, 800, 1_600];
/**
 * For so long the owner may begin to make a move that was approved: longer than it is waited for, and than clocks
 * differ. One that hears of it later, since the process that asks was frozen, does not make it.
 */
const APPLY_MILLISECONDS = 20_000;
/**
 * For so long nothing but its approval ends a request whose move the owner was asked to make. Longer by far than the
 * owner may begin and a transaction of its own may stand still (60 s), so that no such move is still to come after it.
 */
const MOVE_MILLISECONDS = 120_000;
/** What ends a request without the move that it asks for. */
const ENDS_WITHOUT_MOVE: readonly TransitionEvent['kind'][] = ['deny', 'withdraw', 'expire'];

export interface TransitionServiceDeps {
  entities: EntityStore;
  approvals: Pick<ApprovalStore, 'recordVerified'>;
  owners: EntityOwners;
  schedule: ApprovalSchedule;
  clock: Clock;
  /** Of the history of a tenant. */
  quota: Pick<RowQuota, 'take'>;
  /** Of the bytes of its long comments. */
  commentQuota: Pick<RowQuota, 'take' | 'requireRoom'>;
  /** Of who may decide the open requests of a tenant. */
  approverQuota: Pick<RowQuota, 'take' | 'requireRoom'>;
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
   * @throws Problem `quota-exceeded` where the tenant has as much history as it may, or as many who may decide its requests
   */
  async execute(caller: Caller, command: TransitionCommand): Promise<OperationResult> {
    const owner = this.deps.owners.get(command.entityType);
    let movesBefore: number | undefined;
    if (!owner) {
      const tried = await this.executeRecalled(caller, command);
      if (tried.result) return tried.result;
      ({ movesBefore } = tried);
    }
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const { result, event } = await this.withRoom(caller, command, (takeRoom) => {
        const decideOn = (reading: Reading): Decided => {
          movesBefore ??= reading.snapshot.moves;
          const decided = this.decideOn(command, reading, movesBefore);
          takeRoom(decided.result && decided.event);
          return decided;
        };
        return owner
          ? this.attemptWithOwner(caller, command, owner, decideOn)
          : this.attempt(caller, command, decideOn);
      });
      if (result) return result;
      // The caller knew where the owner had moved the entity, but could not know that the request expired. Who agrees
      // to what was changed must not request it by that: then its author could agree.
      if (event?.kind === 'overtake' && (event.isMoved || event.approval.requestedBy === caller.userId))
        movesBefore = undefined;
    }
    throw entityChangedTooOften();
  }

  /**
   * Executes by what this process last saw of the entity, in one round trip. Without a result where the entity must be
   * read: it is not so any more, or the command is refused.
   */
  private async executeRecalled(
    caller: Caller,
    command: TransitionCommand,
  ): Promise<{ result?: OperationResult; movesBefore?: number | undefined }> {
    const { tenantId } = caller;
    const { entityType, entityId } = command;
    const snapshot = this.deps.entities.recall({ tenantId, entityType, entityId });
    if (!snapshot) return {};
    const reading = this.readingOf(caller, command, { snapshot, first: undefined });
    const { result, event } = this.decideOn(command, reading, snapshot.moves);
    // Who is refused learns how the entity is now.
    if (!result || !event) return {};
    return this.withRoom(caller, command, async (takeRoom) => {
      try {
        takeRoom(event);
      } catch {
        // A reading may find that the operation was executed before, which needs no room.
        return {};
      }
      const change = this.changeOf(event, command, caller, result);
      const operation = operationOf(command, result);
      const { outcome, movesBefore } = await this.deps.entities.commit(tenantId, snapshot, change, operation);
      if (outcome !== 'committed') return { movesBefore };
      this.schedule(tenantId, change);
      return { result };
    });
  }

  /**
   * Runs one attempt, which takes room for what it decides, instead of what it decided before. Where it has no result
   * nothing is written, and the room is given back: another attempt may decide something else. @throws what it throws
   */
  private async withRoom<Attempt extends { result?: OperationResult | undefined }>(
    { tenantId }: Caller,
    command: TransitionCommand,
    attempt: (takeRoom: (event: TransitionEvent | undefined) => void) => Promise<Attempt>,
  ): Promise<Attempt> {
    let room = new BesideOpenTransaction();
    const takeRoom = (event: TransitionEvent | undefined): void => {
      // A transaction that is repeated decides again, and may decide on nothing.
      void room.rolledBack();
      room = new BesideOpenTransaction();
      if (event) room.do(() => this.takeRoom(tenantId, event, command));
    };
    try {
      const attempted = await attempt(takeRoom);
      if (attempted.result) room.committed();
      else await room.rolledBack();
      return attempted;
    } catch (error) {
      await room.rolledBack();
      throw error;
    }
  }

  /** @throws Problem `quota-exceeded`, and then takes none */
  private takeRoom(tenantId: string, event: TransitionEvent, command: TransitionCommand): void {
    const { quota, commentQuota, approverQuota } = this.deps;
    const approvers = event.kind === 'request' ? rowsOfApprovers(event.approval) : 0;
    const commentBytes = bytesOfComment(event, command);
    if (approvers > 0) approverQuota.requireRoom(tenantId, approvers);
    if (commentBytes > 0) commentQuota.requireRoom(tenantId, commentBytes);
    quota.take(tenantId);
    if (commentBytes > 0) commentQuota.take(tenantId, commentBytes);
    if (approvers > 0) approverQuota.take(tenantId, approvers);
  }

  /**
   * Ends a request for approval that expired. Returns the milliseconds after which it is to be tried again, where
   * somebody approved it and the owner may be making the move.
   */
  async expire(tenantId: string, entity: EntityName, approvalId: string): Promise<number | undefined> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const now = this.deps.clock.now();
      const reader = { userId: SYSTEM_ACTOR.userId, now };
      const { snapshot } = await this.deps.entities.read({ tenantId, ...entity }, reader);
      const { approval } = snapshot;
      if (approval?.id !== approvalId || dueStep(approval, now) !== 'expire') return undefined;
      if (isBeingMoved(snapshot, now)) return snapshot.movingUntil!.getTime() - now.getTime();
      // The process of who approved it may have ended before it recorded the move: the owner's event does that.
      if (snapshot.movingUntil && (await this.isMovedByOwner(tenantId, approval))) return MOVE_MILLISECONDS;
      const { userId, userName } = SYSTEM_ACTOR;
      const context = { ...entity, actor: { userId, userName }, comment: null, at: this.deps.clock.now() };
      const change = changeOf({ kind: 'expire', approval }, context);
      if ((await this.write(tenantId, snapshot, change)) === 'committed') return undefined;
    }
    return undefined;
  }

  /**
   * Asks the owner of an entity about an open request, and ends it as a decision would where it is overtaken: the owner
   * has the entity no more, or what it has is not what the request was made for, as where it was made again. The
   * request is to be verified again where the owner may be making the move that was approved, and where this fails.
   */
  async verify(tenantId: string, verification: DueVerification): Promise<void> {
    const isVerified = await this.endIfOvertaken(tenantId, verification);
    if (isVerified) await this.deps.approvals.recordVerified(tenantId, verification);
  }

  private async endIfOvertaken(
    tenantId: string,
    { id, entityType, entityId }: DueVerification,
  ): Promise<boolean> {
    if (!this.deps.owners.has(entityType)) return true;
    const caller = { tenantId, ...SYSTEM_ACTOR, permissions: [] };
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const { snapshot, context } = await this.read(caller, { entityType, entityId });
      const { approval } = snapshot;
      if (approval?.id !== id) return true;
      if (isBeingApproved(context)) return false;
      if (!isOvertaken(context)) return true;
      const event = overtakenBy(approval, context);
      const change = this.changeOf(event, { entityType, entityId, comment: null }, caller, undefined);
      if ((await this.write(tenantId, snapshot, change)) === 'committed') return true;
    }
    throw entityChangedTooOften();
  }

  private async isMovedByOwner(tenantId: string, approval: Approval): Promise<boolean> {
    const { entityType, entityId, formerState } = approval;
    const caller = { tenantId, ...SYSTEM_ACTOR, permissions: [] };
    const ownerState = await this.deps.owners.get(entityType)?.describe(caller, { entityType, entityId });
    if (!ownerState?.exists || ownerState.state === formerState) return false;
    return !isOtherVersion({ approval, entityVersion: ownerState.version });
  }

  private async read(
    caller: Caller,
    { entityType, entityId }: EntityName,
    operation?: TransitionCommand,
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
        : await this.deps.entities.findOperation(tenantId, operation, {
            ...entity,
            id: moveIdOf(tenantId, operation.operationId),
            targetState: operation.targetState,
            userId: caller.userId,
          });
    return this.readingOf(caller, entity, { ...read, first }, ownerState);
  }

  /**
   * Reads an entity with an owner as soon as the moves are recorded that the owner made by itself, so that the history
   * has them in their order. Events that take longer, as while NATS is away, are not waited for, and who is refused
   * waits for none: where the owner has it decides that.
   */
  private async readRecorded(caller: Caller, command: TransitionCommand): Promise<Reading> {
    let reading = await this.read(caller, command, command);
    for (const milliseconds of RECORD_PAUSES) {
      if (!reading.isBehind || reading.first || !decide(command, reading.context).effect) break;
      await pause(milliseconds);
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
    const now = this.deps.clock.now();
    const overdue = overdueEventOf(context, now);
    const { effect, ...result } = decide(command, context);
    const event = overdue ?? effect;
    if (event && ENDS_WITHOUT_MOVE.includes(event.kind) && isBeingMoved(snapshot, now))
      return { result: lostRaceResult(context) };
    return { result: overdue ? undefined : result, event };
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
    if (!event) {
      const completed = await this.completeMove(caller, command, owner, reading);
      return { result: completed === 'none' ? result : completed };
    }
    if (result && (event.kind === 'move' || event.kind === 'approve')) {
      const moved = await this.moveByOwner(caller, command, owner, event, reading.snapshot, result);
      return { result: moved === 'version-changed' ? undefined : moved };
    }
    const change = this.changeOf(event, command, caller, result);
    const { opened, at: verifyAt } = change;
    // The owner may have published that it is gone before there was a request to end.
    const toWrite = opened ? { ...change, verifyAt } : change;
    const commit = await this.write(tenantId, reading.snapshot, toWrite, operationOf(command, result));
    if (commit !== 'committed') return { event };
    // Where this fails, or the process ends before, the request is verified in the background.
    if (opened) await this.verify(tenantId, { ...opened, verifyAt }).catch(() => undefined);
    return { result, event };
  }

  /**
   * Records the move of an earlier attempt at the operation, after which the owner's response was lost, where its event
   * is still on its way. The owner makes none any more for that. `none` where there was no such attempt; without a
   * result where something happened to the entity since it was read, such as that event.
   */
  private async completeMove(
    caller: Caller,
    command: TransitionCommand,
    owner: EntityOwner,
    { snapshot, context, first, isBehind }: Reading,
  ): Promise<OperationResult | 'none' | undefined> {
    const { targetState: to } = command;
    if (first || command.operationId === undefined || context.state !== to) return 'none';
    const effect = await this.completedEffectOf(caller, command, snapshot, isBehind);
    if (!effect) return 'none';
    const result = { outcome: 'Completed', resultingState: to } as const;
    const moved = await this.moveByOwner(caller, command, owner, effect, snapshot, result, new Date(0));
    return moved === 'version-changed' ? 'none' : moved;
  }

  private async completedEffectOf(
    { tenantId, userId }: Caller,
    command: TransitionCommand,
    snapshot: EntitySnapshot,
    isBehind: boolean,
  ): Promise<Extract<Effect, { kind: 'move' | 'approve' }> | undefined> {
    const { approval, state, definition } = snapshot;
    if (approval) {
      const approvalId = await this.deps.entities.findCompletionAttempt(tenantId, command);
      const seat = seatLeft(approval, snapshot, userId);
      if (approvalId !== approval.id || seat === undefined) return undefined;
      return { kind: 'approve', approval, seat };
    }
    if (!isBehind || !definition) return undefined;
    const { transitions, initialState } = definition.definition;
    const from = state ?? initialState;
    const transition = transitions.find((one) => one.from === from && one.to === command.targetState);
    return transition && { kind: 'move', transitionName: transition.name, from, to: transition.to };
  }

  /**
   * The owner makes the move; the move it made is recorded, even if other changes happen meanwhile. `version-changed`
   * where the entity is not what was approved: the next attempt ends the request. Without a result where something
   * happened to it. While the owner is asked to make the move of a request, nobody ends the request otherwise; nor for
   * a while after no response came, except where it surely was not asked.
   */
  private async moveByOwner(
    caller: Caller,
    command: TransitionCommand,
    owner: EntityOwner,
    effect: Extract<Effect, { kind: 'move' | 'approve' }>,
    seen: EntitySnapshot,
    result: OperationResult,
    makeUntil?: Date,
  ): Promise<OperationResult | 'version-changed' | undefined> {
    const { entityType, entityId, comment, operationId } = command;
    const { tenantId } = caller;
    const key = { tenantId, entityType, entityId };
    const isApproved = effect.kind === 'approve';
    const move = isApproved ? moveOf(effect.approval) : effect;
    const version = isApproved ? effect.approval.entityVersion : null;
    // Two approvers who complete one request make one move.
    const moveId = isApproved ? effect.approval.id : moveIdOf(tenantId, operationId);
    // What the owner does next, before its response is here, is later than this.
    const at = this.deps.clock.now();
    const movingUntil = new Date(at.getTime() + MOVE_MILLISECONDS);
    const notAfter = makeUntil ?? (isApproved ? new Date(at.getTime() + APPLY_MILLISECONDS) : null);
    const before = isApproved
      ? await this.deps.entities.setMovingUntil(key, seen, movingUntil, command)
      : seen;
    if (!before) return undefined;
    const asked = { entityType, entityId, ...move, moveId, comment, version, notAfter };
    const applied = await owner.apply(caller, asked).catch(async (error: unknown) => {
      // As before: what another approver asked for, the owner may be making or have made.
      if (isApproved && error instanceof CallNotSent)
        await this.deps.entities.setMovingUntil(key, before, seen.movingUntil);
      throw error;
    });
    if (applied.outcome === 'VERSION_CHANGED') return 'version-changed';
    if (applied.outcome !== 'MOVED') {
      // Unless the owner may be making the move for another approver.
      if (isApproved && !isBeingMoved(seen, at)) {
        const isStillOpen = await this.deps.entities.setMovingUntil(key, before, null);
        if (!isStillOpen) return undefined;
      }
      return refusedMoveResult(applied, shownStateOf(before, applied));
    }
    // The request of the other approver records the move, or the owner's event does.
    if (applied.movedBy !== caller.userId) return { ...result, outcome: 'InvalidTransition' };

    const made = { id: moveId, entityType, entityId, targetState: move.to, userId: caller.userId };
    let snapshot = before;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const overtaken = otherRequestThan(effect, snapshot);
      // Where the move is recorded already, the request was made after it.
      if (overtaken && !(await this.deps.entities.findOperation(tenantId, command, made))) {
        const end = { kind: 'overtake', approval: overtaken, isMoved: true } as const;
        await this.write(tenantId, snapshot, this.changeOf(end, command, caller, undefined));
      } else {
        const change = this.changeOf(eventOf(effect, snapshot), command, caller, result, at);
        const ofOwner = { ...change, ownerMoveId: moveId };
        const commit = await this.write(tenantId, snapshot, ofOwner, operationOf(command, result));
        if (commit === 'committed') return result;
        if (commit === 'made-by-other')
          return { outcome: 'InvalidTransition', resultingState: result.resultingState };
      }
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
    if (opened) void this.deps.schedule.start(tenantId, opened);
    // Those of one that expired end by themselves.
    if (ended && ended.end !== 'Expired') void this.deps.schedule.end(tenantId, ended.approval);
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
  if (isOvertaken(context)) return overtakenBy(approval, context);
  return dueStep(approval, now) === 'expire' ? { kind: 'expire', approval } : undefined;
}

const overtakenBy = (approval: Approval, { state }: TransitionContext): TransitionEvent => ({
  kind: 'overtake',
  approval,
  isMoved: approval.formerState !== state,
});

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

/** A request that was made while the owner was asked to make this move, which overtook it. */
const otherRequestThan = (
  effect: Extract<Effect, { kind: 'move' | 'approve' }>,
  { approval }: EntitySnapshot,
): Approval | undefined =>
  effect.kind === 'approve' && effect.approval.id === approval?.id ? undefined : approval;

/** The same for every attempt at one operation, so that the owner makes the move once. */
function moveIdOf(tenantId: string, operationId: string | undefined): string {
  return operationId === undefined ? newId() : uuidFrom(`${tenantId}\n${operationId}`, '8');
}
