import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';

const entity = { entityType: z.string(), entityId: z.string() };

const approval = {
  ...entity,
  approvalId: z.uuid(),
  transitionName: z.string(),
  formerState: z.string(),
  targetState: z.string(),
  requestedBy: z.string(),
};

/** An entity went from one state to another. Told of every row of its history, in the order of `position`. */
export const transitionExecuted = eventType(
  'workflow.transition-executed',
  z.object({
    ...entity,
    transitionName: z.string(),
    previousState: z.string(),
    newState: z.string(),
    comment: z.string().nullable(),
    transitionedAt: z.iso.datetime(),
    transitionedBy: z.string(),
    /** Counts the moves of the entity from 1. */
    position: z.int(),
  }),
);

/** Somebody asked for a move that others must agree to. */
export const approvalRequested = eventType(
  'workflow.approval-requested',
  z.object({
    ...approval,
    comment: z.string().nullable(),
    approverUsers: z.array(z.string()),
    approverPermission: z.string().nullable(),
    expiresAt: z.iso.datetime().nullable(),
  }),
);

/** One of the approvers agreed; `approvalsGiven` of `approvalsNeeded` have. */
export const approvalGranted = eventType(
  'workflow.approval-granted',
  z.object({
    ...approval,
    comment: z.string().nullable(),
    grantedBy: z.string(),
    onBehalfOf: z.string().nullable(),
    approvalsNeeded: z.int(),
    approvalsGiven: z.int(),
  }),
);

/** How a request for approval ended. */
export const ApprovalEnd = {
  Approved: 'Approved',
  Denied: 'Denied',
  Withdrawn: 'Withdrawn',
  Expired: 'Expired',
  /** The entity was moved elsewhere by its owner meanwhile. */
  Overtaken: 'Overtaken',
} as const;
export type ApprovalEnd = (typeof ApprovalEnd)[keyof typeof ApprovalEnd];

/** A request for approval is over. */
export const approvalEnded = eventType(
  'workflow.approval-ended',
  z.object({ ...approval, end: z.enum(ApprovalEnd), endedBy: z.string(), comment: z.string().nullable() }),
);

const awaited = {
  ...approval,
  approverUsers: z.array(z.string()),
  approverPermission: z.string().nullable(),
};

/** A request still waits; its approvers are to be told again. */
export const approvalReminded = eventType('workflow.approval-reminded', z.object(awaited));

/** A request waited too long; from now on these may decide too. */
export const approvalEscalated = eventType('workflow.approval-escalated', z.object(awaited));

/** A definition was saved or withdrawn. */
export const definitionChanged = eventType(
  'workflow.definition-changed',
  z.object({ entityType: z.string(), version: z.int(), withdrawn: z.boolean() }),
);

/** What an owner of entity states tells of every move of its entities (libs/proto/workflow.proto). */
export const EntityMoved = z.object({
  ...entity,
  /** The id given to `Apply`, or one of the owner's own where it made the move by itself. */
  moveId: z.uuid(),
  previousState: z.string(),
  newState: z.string(),
  comment: z.string().nullable(),
  movedAt: z.iso.datetime(),
  movedBy: z.string(),
});

/** The fact under which the service of this area tells moves of its entities, such as `template.entity-moved`. */
export const entityMoved = <Area extends string>(area: Area) =>
  eventType(`${area}.entity-moved`, EntityMoved);

/** Every fact that the workflow service tells. */
export const workflowEvents = {
  transitionExecuted,
  approvalRequested,
  approvalGranted,
  approvalEnded,
  approvalReminded,
  approvalEscalated,
  definitionChanged,
};
