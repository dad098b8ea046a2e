import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';

/** How a request for approval ended. */
export const ApprovalEnd = {
  Approved: 'Approved',
  Denied: 'Denied',
  Withdrawn: 'Withdrawn',
  Expired: 'Expired',
  /** The entity was moved elsewhere by its owner meanwhile, or changed, so that it is not what the request was made for. */
  Overtaken: 'Overtaken',
} as const;
export type ApprovalEnd = (typeof ApprovalEnd)[keyof typeof ApprovalEnd];

const entity = { entityType: z.string(), entityId: z.string() };

const approval = {
  ...entity,
  approvalId: z.uuid(),
  transitionName: z.string(),
  formerState: z.string(),
  targetState: z.string(),
  requestedBy: z.string(),
};

/** An entity went from one state to another. Published for every row of its history, in the order of `position`. */
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
    /** How the request for approval ended that this move ends; not there for any other move. */
    approvalEnd: z.enum(ApprovalEnd).optional(),
  }),
);

/** A user requested a move that others must agree to. */
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

/** A request still waits; its approvers are to be notified again. */
export const approvalReminded = eventType('workflow.approval-reminded', z.object(awaited));

/** A request waited too long; from now on these approvers may decide too. */
export const approvalEscalated = eventType('workflow.approval-escalated', z.object(awaited));

/** A definition was saved or withdrawn. */
export const definitionChanged = eventType(
  'workflow.definition-changed',
  z.object({ entityType: z.string(), version: z.int(), withdrawn: z.boolean() }),
);

/** What the owner of entities publishes about every move of them (libs/proto/workflow.proto). */
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

/** The event that a service publishes for moves of the entities it owns, such as `template.entity-moved`. */
export const entityMoved = <Service extends string>(service: Service) =>
  eventType(`${service}.entity-moved`, EntityMoved);

/** What the owner of entities publishes about those that it has no more, whatever ended them. */
export const EntityGone = z.object({ entityType: z.string(), entityIds: z.array(z.string()) });

/**
 * The event that a service publishes when entities it owns are gone, such as `contacts.entity-gone`. Their open requests
 * for approval end then, unless entities that were made again under these ids are what the requests are for.
 */
export const entityGone = <Service extends string>(service: Service) =>
  eventType(`${service}.entity-gone`, EntityGone);

/** Every event that the workflow service publishes. */
export const workflowEvents = {
  transitionExecuted,
  approvalRequested,
  approvalGranted,
  approvalEnded,
  approvalReminded,
  approvalEscalated,
  definitionChanged,
};
