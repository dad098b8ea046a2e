import { createHash } from 'node:crypto';
import { workflowProblems } from '@plinth/contracts/workflow/problems';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { unavailable } from '@plinth/kernel/problem';
import { newId } from '@plinth/kernel/uuid';
import { dueStep } from '../domain/approval';
import { changeOf, SYSTEM, type Actor, type Happening } from '../domain/change';
import { isBeingApproved, isOvertaken, situationOf } from '../domain/situation';
import {
  currentStateOf,
  decide,
  optionsOf,
  type Effect,
  type Option,
  type Situation,
} from '../domain/transition';
import type { Applied, EntityOwner, EntityOwners } from '../grpc/entity-owners';
import type { EntityStore, OperationResult } from '../store/entity-store';
import type { SeenEntity } from '../store/seen-entity';
import type { ApprovalTimers } from '../temporal/client';

/** Others may change what was read; after so many times something is wrong. */
const ATTEMPTS_MAX = 20;

export interface AskedTransition {
  entityType: string;
  entityId: string;
  targetState: string;
  comment: string | null;
  /** The same for every attempt at this request. */
  operationId: string | undefined;
}

export interface MachineDeps {
  entities: EntityStore;
  owners: EntityOwners;
  timers: ApprovalTimers;
  clock: Clock;
}

interface Reading {
  seen: SeenEntity;
  situation: Situation;
}

/** Runs the state machine of an entity: reads where it stands, lets the domain decide, and writes what comes of it. */
export class Machine {
  constructor(private readonly deps: MachineDeps) {}

  /** Where an entity stands and where this caller may move it. */
  async status(
    caller: Caller,
    entity: { entityType: string; entityId: string },
  ): Promise<{ currentState: string; options: Option[] }> {
    const { situation } = await this.read(caller, entity);
    const shown = isOvertaken(situation) ? { ...situation, approval: undefined } : situation;
    const asking = { caller, comment: null, now: this.deps.clock.now(), approvalId: newId() };
    return { currentState: currentStateOf(shown), options: optionsOf(shown, asking) };
  }

  /**
   * Makes one transition, or says why not. It is judged by what was seen when the request came: when the entity is
   * moved meanwhile the request lost a race and is answered `InvalidTransition`.
   */
  async execute(caller: Caller, asked: AskedTransition): Promise<OperationResult> {
    let movesSeen: number | undefined;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const reading = await this.read(caller, asked);
      movesSeen ??= reading.seen.moves;
      // Asked after the reading: what this operation did before is known, whatever the reading shows.
      const first = asked.operationId && (await this.findOperation(caller, asked, asked.operationId));
      if (first) return first;
      if (reading.seen.moves !== movesSeen || isBeingApproved(reading.situation)) return lostRace(reading);
      const over = endedBefore(reading.situation, this.deps.clock.now());
      if (over) {
        await this.write(caller.tenantId, asked, reading.seen, over, SYSTEM, null);
        // The caller knew where the owner had moved it, but could not know that time was over.
        if (over.kind === 'overtake') movesSeen = undefined;
        continue;
      }
      const result = await this.attempt(caller, asked, reading);
      if (result) return result;
    }
    throw unavailable('The entity is changed too often at the moment; try again.');
  }

  /** Ends a request whose time is over. */
  async expire(
    tenantId: string,
    entity: { entityType: string; entityId: string },
    approvalId: string,
  ): Promise<void> {
    const now = this.deps.clock.now();
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const seen = await this.deps.entities.read({ tenantId, ...entity }, { userId: SYSTEM.userId, now });
      if (seen.approval?.id !== approvalId || dueStep(seen.approval, now) !== 'expire') return;
      const happening = { kind: 'expire' as const, approval: seen.approval };
      if ((await this.write(tenantId, entity, seen, happening, SYSTEM, null)) === 'committed') return;
    }
  }

  private findOperation({ tenantId }: Caller, { entityType }: AskedTransition, operationId: string) {
    const ownerMoveId = this.deps.owners.has(entityType) ? moveIdOf(tenantId, operationId) : undefined;
    return this.deps.entities.findOperation(tenantId, operationId, ownerMoveId);
  }

  private async read(caller: Caller, entity: { entityType: string; entityId: string }): Promise<Reading> {
    const { entityType, entityId } = entity;
    const reader = { userId: caller.userId, now: this.deps.clock.now() };
    const seen = await this.deps.entities.read({ tenantId: caller.tenantId, entityType, entityId }, reader);
    if (!seen.definition)
      throw workflowProblems['entity-type-unknown'](
        `No workflow is defined for the entity type "${entityType}".`,
      );
    const owner = await this.deps.owners.get(entityType)?.describe(caller, { entityType, entityId });
    return { seen, situation: situationOf(seen.definition.definition, entityId, seen, owner) };
  }

  /** One try; undefined when something changed meanwhile and it is to be judged anew. */
  private async attempt(
    caller: Caller,
    asked: AskedTransition,
    { seen, situation }: Reading,
  ): Promise<OperationResult | undefined> {
    const now = this.deps.clock.now();
    const asking = { caller, comment: asked.comment, now, approvalId: newId() };
    const { effect, ...result } = decide(situation, asked, asking);
    if (!effect) return result;

    const owner = this.deps.owners.get(asked.entityType);
    if (owner && (effect.kind === 'move' || effect.kind === 'approve'))
      return this.moveByOwner(caller, asked, owner, effect, seen, result);

    const operation = asked.operationId ? { id: asked.operationId, result } : undefined;
    const commit = await this.write(caller.tenantId, asked, seen, effect, caller, asked.comment, {
      operation,
    });
    return commit === 'committed' ? result : undefined;
  }

  /** The owner makes the move; what it made is recorded, whatever else happens meanwhile. */
  private async moveByOwner(
    caller: Caller,
    asked: AskedTransition,
    owner: EntityOwner,
    effect: Extract<Effect, { kind: 'move' | 'approve' }>,
    seen: SeenEntity,
    result: OperationResult,
  ): Promise<OperationResult> {
    const { entityType, entityId, comment, operationId } = asked;
    const { tenantId } = caller;
    const move = effect.kind === 'move' ? effect : endsOf(effect.approval);
    // Two approvers who complete one request make one move.
    const moveId = effect.kind === 'approve' ? effect.approval.id : moveIdOf(tenantId, operationId);
    const applied = await owner.apply(caller, { entityType, entityId, ...move, moveId, comment });
    if (applied.outcome !== 'MOVED') return refusalOf(applied, situationStateOf(seen, applied));
    // Whoever was faster writes it down, or the owner's fact does.
    if (applied.movedBy !== caller.userId) return { ...result, outcome: 'InvalidTransition' };

    const operation = operationId ? { id: operationId, result } : undefined;
    let current = seen;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const happening = happeningOf(effect, current);
      const options = { operation, ownerMoveId: moveId };
      const commit = await this.write(tenantId, asked, current, happening, caller, comment, options);
      if (commit === 'committed') return result;
      if (commit === 'made-by-other')
        return { outcome: 'InvalidTransition', resultingState: result.resultingState };
      const reader = { userId: caller.userId, now: this.deps.clock.now() };
      current = await this.deps.entities.read({ tenantId, entityType, entityId }, reader);
    }
    // The owner's fact will have it written down.
    return result;
  }

  private async write(
    tenantId: string,
    { entityType, entityId }: { entityType: string; entityId: string },
    seen: SeenEntity,
    happening: Happening,
    actor: Actor,
    comment: string | null,
    options: { operation?: { id: string; result: OperationResult } | undefined; ownerMoveId?: string } = {},
  ) {
    const at = this.deps.clock.now();
    const { userId, userName } = actor;
    const change = {
      ...changeOf(happening, { entityType, entityId, actor: { userId, userName }, comment, at }),
      ...(options.ownerMoveId ? { ownerMoveId: options.ownerMoveId } : {}),
    };
    const commit = await this.deps.entities.commit(tenantId, seen, change, options.operation);
    if (commit === 'committed') {
      if (change.opened) this.deps.timers.start(tenantId, change.opened);
      if (change.ended) this.deps.timers.end(change.ended.approval);
    }
    return commit;
  }
}

/** An open request that is over already, by time or by the owner, though nobody has written it down. */
function endedBefore(situation: Situation, now: Date): Happening | undefined {
  const { approval } = situation;
  if (!approval) return undefined;
  if (isOvertaken(situation)) return { kind: 'overtake', approval };
  return dueStep(approval, now) === 'expire' ? { kind: 'expire', approval } : undefined;
}

const lostRace = ({ situation }: Reading): OperationResult => ({
  outcome: 'InvalidTransition',
  resultingState: isBeingApproved(situation) ? situation.state : currentStateOf(situation),
});

const refusalOf = ({ outcome }: Applied, resultingState: string): OperationResult => ({
  outcome: outcome === 'DENIED' ? 'Denied' : 'InvalidTransition',
  resultingState,
});

const situationStateOf = ({ approval }: SeenEntity, { state }: Applied): string =>
  approval && approval.formerState === state ? 'PendingApproval' : state;

const endsOf = ({
  transitionName,
  formerState,
  targetState,
}: {
  transitionName: string;
  formerState: string;
  targetState: string;
}) => ({
  transitionName,
  from: formerState,
  to: targetState,
});

/** What the move is by now: the request that it completes may have ended meanwhile. */
function happeningOf(effect: Extract<Effect, { kind: 'move' | 'approve' }>, current: SeenEntity): Happening {
  if (effect.kind === 'move') return effect;
  return current.approval?.id === effect.approval.id ? effect : { kind: 'move', ...endsOf(effect.approval) };
}

/** The same for every attempt at one operation, so that the owner makes the move once. */
function moveIdOf(tenantId: string, operationId: string | undefined): string {
  if (operationId === undefined) return newId();
  const hash = createHash('sha256').update(`${tenantId}\n${operationId}`).digest('hex');
  const groups = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`];
  return [...groups, hash.slice(20, 32)].join('-');
}
