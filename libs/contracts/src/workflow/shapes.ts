import { batchOf, batchResult } from '@plinth/kernel/batch-result';
import { pagedResult } from '@plinth/kernel/paged-result';
import { z } from 'zod';
import { EntityType, Id, Instant, text, Timestamp } from '../schemas';

const STATES_MAX = 100;
const TRANSITIONS_MAX = 1000;
const APPROVERS_MAX = 100;
const NAME_LENGTH_MAX = 100;
const USER_ID_LENGTH_MAX = 255;
const COMMENT_LENGTH_MAX = 4000;
const TIMER_SECONDS_MAX = 366 * 86_400;

/** Of one as JSON: each decision reads it whole, and a batch has as many decisions as items. */
export const DEFINITION_BYTES_MAX = 256 * 1024;
/**
 * Of the users whom one transition names, those whom it escalates to included, together: each request for approval keeps
 * them, and a batch makes as many requests as it has items.
 */
export const APPROVER_BYTES_MAX = 8 * 1024;
/** Entity types for which a tenant has a definition of its own. */
export const OWN_DEFINITIONS_MAX = 200;
/** Of all of them as JSON: a list has every one whole. */
export const OWN_DEFINITION_BYTES_MAX = 2 * 1024 * 1024;
/** Definitions that a response lists: those of the tenant, and those of the platform that apply to it. */
export const DEFINITIONS_LISTED_MAX = 2 * OWN_DEFINITIONS_MAX;
/** Delegations of a user that are not over. */
export const DELEGATIONS_GIVEN_MAX = 100;
/** The same to a user: each of their decisions reads all of them. */
export const DELEGATIONS_RECEIVED_MAX = 100;
/** Delegations of a tenant. */
export const TENANT_DELEGATIONS_MAX = 100_000;
/** Delegations that a response lists; of more, the newest are left out. */
export const DELEGATIONS_LISTED_MAX = 1_000;

/** The state of an entity while an approval is open; no definition may have a state of this name. */
export const PENDING_APPROVAL = 'PendingApproval';

export const TransitionOutcome = {
  Completed: 'Completed',
  ApprovalRequested: 'ApprovalRequested',
  Denied: 'Denied',
  InvalidTransition: 'InvalidTransition',
} as const;
export type TransitionOutcome = (typeof TransitionOutcome)[keyof typeof TransitionOutcome];

/** States of the built-in definition of `Template`; the same values as the lifecycle of templates. */
export const WorkflowLifecycleStatus = { Draft: 0, PendingReview: 1, Published: 2, Archived: 3 } as const;
export type WorkflowLifecycleStatus = (typeof WorkflowLifecycleStatus)[keyof typeof WorkflowLifecycleStatus];

const stateName = () => text(NAME_LENGTH_MAX, 1);
const userId = () => text(USER_ID_LENGTH_MAX, 1);

export const EntityId = text(300, 1);

export const TransitionDto = z
  .object({
    targetState: z.string(),
    name: z.string(),
    /** Whether the caller may request it, approval or not. */
    allowed: z.boolean(),
    requiresApproval: z.boolean(),
    /** Why it is not allowed; empty when it is. */
    reasons: z.array(z.string()),
  })
  .meta({ id: 'TransitionDto' });

export const TransitionRequestDto = z
  .object({
    targetState: stateName(),
    comment: text(COMMENT_LENGTH_MAX).nullish(),
    approvalId: Id.nullish().meta({
      description:
        'The request for approval that the caller has seen and decides; where another one, or none, is open by now, the outcome is `InvalidTransition`.',
    }),
  })
  .meta({ id: 'TransitionRequestDto' });

export const TransitionResultDto = z
  .object({ succeeded: z.boolean(), resultingState: z.string(), outcome: z.enum(TransitionOutcome) })
  .meta({ id: 'TransitionResultDto' });

export const TransitionHistoryDto = z
  .object({
    previousState: z.string(),
    newState: z.string(),
    transitionedAt: Timestamp,
    transitionedBy: z.string(),
    comment: z.string().nullable(),
  })
  .meta({ id: 'TransitionHistoryDto' });

export const WorkflowStatusDto = z
  .object({ currentState: z.string(), availableTransitions: z.array(TransitionDto) })
  .meta({ id: 'WorkflowStatusDto' });

export const WorkflowHistoryPage = z
  .object({ items: z.array(TransitionHistoryDto), totalCount: z.int(), nextCursor: z.string().nullable() })
  .meta({ id: 'WorkflowHistoryPage' });

export const BatchTransitionRequest = batchOf(
  TransitionRequestDto.extend({ entityType: EntityType, entityId: EntityId }).meta({
    id: 'BatchTransitionItem',
  }),
).meta({ id: 'BatchTransitionRequest' });

export const BatchTransitionResult = batchResult(TransitionResultDto).meta({ id: 'BatchTransitionResult' });

/** How many of the approvers must agree: one, all that are named, or `count` of them. */
export const ApprovalMode = { Any: 'Any', All: 'All', Count: 'Count' } as const;
export type ApprovalMode = (typeof ApprovalMode)[keyof typeof ApprovalMode];

export const WorkflowApprovers = z
  .object({
    /** Its holders may approve. */
    permission: text(NAME_LENGTH_MAX, 1).nullable().default(null),
    /** The users who may approve. */
    users: z.array(userId()).max(APPROVERS_MAX).default([]),
    mode: z.enum(ApprovalMode).default('Any'),
    count: z.int().min(1).max(APPROVERS_MAX).nullable().default(null),
  })
  .meta({ id: 'WorkflowApprovers' });

const seconds = () => z.int().min(1).max(TIMER_SECONDS_MAX).nullable().default(null);

export const WorkflowApprovalTimers = z
  .object({
    /** The approvers are notified once more. */
    remindAfterSeconds: seconds(),
    /** `escalateTo` may decide too from then on. */
    escalateAfterSeconds: seconds(),
    escalateTo: z
      .object({
        permission: text(NAME_LENGTH_MAX, 1).nullable().default(null),
        users: z.array(userId()).max(APPROVERS_MAX).default([]),
      })
      .nullable()
      .default(null),
    /** The request ends and the entity returns to its former state. */
    expireAfterSeconds: seconds(),
  })
  .meta({ id: 'WorkflowApprovalTimers' });

export const WorkflowTransition = z
  .object({
    name: text(NAME_LENGTH_MAX, 1),
    from: stateName(),
    to: stateName(),
    /** What a caller needs beside `Workflow.Transitions.Execute`. */
    permission: text(NAME_LENGTH_MAX, 1).nullable().default(null),
    requiresApproval: z.boolean().default(false),
    /** Without this, holders of `Workflow.Transitions.Approve`. */
    approvers: WorkflowApprovers.nullable().default(null),
    timers: WorkflowApprovalTimers.nullable().default(null),
  })
  .meta({ id: 'WorkflowTransition' });

export const SaveWorkflowDefinitionRequest = z
  .object({
    /** Where given, the same as in the path. */
    entityType: EntityType.optional(),
    initialState: stateName(),
    /** Where left out, the initial state and those that transitions name. */
    states: z.array(stateName()).min(1).max(STATES_MAX).nullish(),
    /** Where an entity may stay for ever. Where left out, the states that no transition leaves. */
    finalStates: z.array(stateName()).max(STATES_MAX).nullish(),
    transitions: z.array(WorkflowTransition).max(TRANSITIONS_MAX),
  })
  .meta({ id: 'SaveWorkflowDefinitionRequest' });

export const DefinitionScope = { Platform: 'Platform', Tenant: 'Tenant' } as const;
export type DefinitionScope = (typeof DefinitionScope)[keyof typeof DefinitionScope];

export const WorkflowDefinition = z
  .object({
    entityType: z.string(),
    version: z.int(),
    /** Whether it is the platform's default or the tenant's own. */
    scope: z.enum(DefinitionScope),
    initialState: z.string(),
    states: z.array(z.string()),
    finalStates: z.array(z.string()),
    transitions: z.array(WorkflowTransition),
    /** Null for what the platform was delivered with. */
    savedAt: Timestamp.nullable(),
    savedBy: z.string().nullable(),
  })
  .meta({ id: 'WorkflowDefinition' });

export const WorkflowDefinitionValidation = z
  .object({
    isSound: z.boolean(),
    errors: z.array(
      z.object({
        /** Property path in the request, such as `transitions[2].to`. */
        path: z.string(),
        rule: z.string(),
        message: z.string(),
      }),
    ),
  })
  .meta({ id: 'WorkflowDefinitionValidation' });

export const WorkflowApproval = z
  .object({
    id: Id,
    entityType: z.string(),
    entityId: z.string(),
    transitionName: z.string(),
    /** Requesting this state denies the approval. */
    formerState: z.string(),
    /** Requesting this state approves it. */
    targetState: z.string(),
    requestedBy: z.string(),
    requestedByName: z.string(),
    requestedAt: Timestamp,
    comment: z.string().nullable(),
    approvalsNeeded: z.int(),
    approvalsGiven: z.int(),
    /** In whose place the caller would decide, by delegation; null for their own. */
    onBehalfOf: z.string().nullable(),
    isEscalated: z.boolean(),
    expiresAt: Timestamp.nullable(),
  })
  .meta({ id: 'WorkflowApproval' });

export const WorkflowApprovalPage = pagedResult(WorkflowApproval).meta({ id: 'WorkflowApprovalPage' });

export const CreateWorkflowDelegationRequest = z
  .object({
    /** The id of the user who may approve in the caller's place. */
    delegateId: userId(),
    /** Now, where left out. */
    from: Instant.nullish(),
    until: Instant,
  })
  .meta({ id: 'CreateWorkflowDelegationRequest' });

export const WorkflowDelegation = z
  .object({
    id: Id,
    delegatorId: z.string(),
    delegatorName: z.string(),
    delegateId: z.string(),
    from: Timestamp,
    until: Timestamp,
    createdAt: Timestamp,
  })
  .meta({ id: 'WorkflowDelegation' });
