import type { ListRules } from '@plinth/kernel/list-query';
import { z } from 'zod';
import { endpoint, permission } from '../endpoint';
import { EntityTypeInPath, Id } from '../schemas';
import {
  DEFINITIONS_LISTED_MAX,
  DELEGATIONS_LISTED_MAX,
  BatchTransitionRequest,
  BatchTransitionResult,
  CreateWorkflowDelegationRequest,
  EntityId,
  SaveWorkflowDefinitionRequest,
  TransitionRequestDto,
  TransitionResultDto,
  WorkflowApprovalPage,
  WorkflowDefinition,
  WorkflowDefinitionValidation,
  WorkflowDelegation,
  WorkflowHistoryPage,
  WorkflowStatusDto,
} from './shapes';

/** The media type of a definition's picture. */
export const MERMAID = 'text/vnd.mermaid';

const ofEntity = z.object({ entityType: EntityTypeInPath, entityId: EntityId });
const ofType = z.object({ entityType: EntityTypeInPath });

/** A history has one order, which is read from either end. */
const historyRules: ListRules = {
  filterable: {},
  sortable: ['transitionedAt'],
  defaultSort: '-transitionedAt',
  searchable: [],
  cursor: true,
};

const approvalRules: ListRules = {
  filterable: {
    entityType: { type: 'string' },
    entityId: { type: 'string' },
    requestedBy: { type: 'string' },
    requestedAt: { type: 'timestamp' },
  },
  sortable: ['requestedAt'],
  defaultSort: 'requestedAt',
  searchable: [],
  cursor: true,
  // Those that the caller requested themselves, or agreed to, wait for others who are approvers as they are.
  passesOver: true,
};

const getTransitions = endpoint({
  method: 'GET',
  path: '/workflow/:entityType/:entityId/transitions',
  summary: 'Read the state of an entity and the transitions that this caller may request',
  access: permission('Workflow.Transitions.Read'),
  params: ofEntity,
  success: { status: 200, body: WorkflowStatusDto },
  problems: ['entity-type-unknown'],
  cache: 'user-data',
});

const postTransition = endpoint({
  method: 'POST',
  path: '/workflow/:entityType/:entityId/transition',
  summary: 'Request another state',
  description:
    'All four outcomes are 200. Where the transition requires approval, an approver completes it by requesting the same state again, and denies it by requesting the former state; `approvalId` says which request they have seen.',
  access: permission('Workflow.Transitions.Execute'),
  params: ofEntity,
  body: TransitionRequestDto,
  success: { status: 200, body: TransitionResultDto },
  problems: ['entity-type-unknown', 'quota-exceeded'],
});

const getHistory = endpoint({
  method: 'GET',
  path: '/workflow/:entityType/:entityId/history',
  summary: 'Read the moves of an entity, newest first',
  access: permission('Workflow.History.Read'),
  params: ofEntity,
  list: historyRules,
  success: { status: 200, body: WorkflowHistoryPage },
  problems: ['entity-type-unknown'],
  cache: 'list',
});

const postTransitions = endpoint({
  method: 'POST',
  path: '/workflow/transitions',
  summary: 'Request another state of many entities, each on its own',
  access: permission('Workflow.Transitions.Execute'),
  body: BatchTransitionRequest,
  success: { status: 207, body: BatchTransitionResult },
});

const getApprovals = endpoint({
  method: 'GET',
  path: '/workflow/approvals',
  summary: 'List the requests that wait for this caller’s decision',
  access: permission('Workflow.Transitions.Read'),
  list: approvalRules,
  success: { status: 200, body: WorkflowApprovalPage },
  cache: 'list',
});

const getDelegations = endpoint({
  method: 'GET',
  path: '/workflow/delegations',
  summary: 'List the delegations that this caller gave or received and that are not over',
  access: permission('Workflow.Transitions.Read'),
  success: { status: 200, body: z.array(WorkflowDelegation).max(DELEGATIONS_LISTED_MAX) },
  cache: 'list',
});

const postDelegation = endpoint({
  method: 'POST',
  path: '/workflow/delegations',
  summary: 'Let another user approve in this caller’s place for a while',
  access: permission('Workflow.Transitions.Execute'),
  body: CreateWorkflowDelegationRequest,
  success: { status: 201, body: WorkflowDelegation },
  problems: ['api-key-not-for-keys', 'quota-exceeded'],
});

const getDelegation = endpoint({
  method: 'GET',
  path: '/workflow/delegations/:delegationId',
  summary: 'Read one delegation',
  access: permission('Workflow.Transitions.Read'),
  params: z.object({ delegationId: Id }),
  success: { status: 200, body: WorkflowDelegation },
  problems: ['delegation-not-found'],
  cache: 'user-data',
});

const deleteDelegation = endpoint({
  method: 'DELETE',
  path: '/workflow/delegations/:delegationId',
  summary: 'Withdraw a delegation that this caller gave',
  access: permission('Workflow.Transitions.Execute'),
  params: z.object({ delegationId: Id }),
  success: { status: 204 },
  problems: ['delegation-not-found'],
});

const getDefinitions = endpoint({
  method: 'GET',
  path: '/workflow/definitions',
  summary: 'List the definitions that apply to this tenant',
  access: permission('Workflow.Transitions.Read'),
  success: { status: 200, body: z.array(WorkflowDefinition).max(DEFINITIONS_LISTED_MAX) },
  cache: 'list',
});

const getDefinition = endpoint({
  method: 'GET',
  path: '/workflow/definitions/:entityType',
  summary: 'Read the definition of an entity type, as data or as a Mermaid state diagram',
  access: permission('Workflow.Transitions.Read'),
  params: ofType,
  query: z.object({
    /** Decides before `Accept`. */
    format: z.enum(['json', 'mermaid']).optional(),
    /** An earlier version of the same scope. */
    version: z.coerce.number().int().min(1).optional(),
  }),
  success: { status: 200, body: WorkflowDefinition },
  alternatives: [
    { status: 200, file: [MERMAID, 'text/plain'], description: 'The picture, as Mermaid text.' },
  ],
  problems: ['entity-type-unknown'],
  cache: 'user-data',
  etag: true,
});

const putDefinition = endpoint({
  method: 'PUT',
  path: '/workflow/definitions/:entityType',
  summary: 'Save the definition of an entity type as a new version',
  description: 'Callers of the host tenant save the platform’s default, all others their tenant’s own.',
  access: permission('Workflow.Definitions.Manage'),
  params: ofType,
  body: SaveWorkflowDefinitionRequest,
  success: { status: 200, body: WorkflowDefinition },
  alternatives: [
    { status: 201, body: WorkflowDefinition, description: 'The entity type had no definition before.' },
  ],
  problems: [
    'workflow-definition-unsound',
    'workflow-definition-strands-entities',
    'stale-version',
    'quota-exceeded',
  ],
  etag: true,
  ifMatch: true,
  ifNoneMatch: true,
});

const validateDefinition = endpoint({
  method: 'POST',
  path: '/workflow/definitions/:entityType/validate',
  summary: 'Check a definition without saving it',
  access: permission('Workflow.Definitions.Manage'),
  params: ofType,
  body: SaveWorkflowDefinitionRequest,
  repeatable: true,
  success: { status: 200, body: WorkflowDefinitionValidation },
});

const deleteDefinition = endpoint({
  method: 'DELETE',
  path: '/workflow/definitions/:entityType',
  summary: 'Withdraw the tenant’s own definition, so that the platform’s applies again',
  access: permission('Workflow.Definitions.Manage'),
  params: ofType,
  success: { status: 204 },
  problems: ['entity-type-unknown', 'workflow-definition-strands-entities', 'stale-version'],
  ifMatch: true,
});

export const workflowEndpoints = {
  getTransitions,
  postTransition,
  getHistory,
  postTransitions,
  getApprovals,
  getDelegations,
  postDelegation,
  getDelegation,
  deleteDelegation,
  getDefinitions,
  getDefinition,
  putDefinition,
  validateDefinition,
  deleteDefinition,
};
