import { workflowEndpoints } from '@plinth/contracts/workflow/endpoints';
import { ApiProblem } from '@plinth/sdk/api-problem';
import { createClient } from '@plinth/sdk/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { clientOptions } from './platform';
import { pageCount } from './read-again';

export const workflow = createClient(workflowEndpoints, clientOptions);

export type Approval = Awaited<ReturnType<typeof workflow.getApprovals>>['body']['items'][number];
export type TransitionResult = Awaited<ReturnType<typeof workflow.postTransition>>['body'];
export type WorkflowStatus = Awaited<ReturnType<typeof workflow.getTransitions>>['body'];

export interface Entity {
  entityType: string;
  entityId: string;
}

/**
 * Moves an entity to a state, with what is said to it where anything is.
 * @param approvalId of the request that the person decides, where they have seen one
 */
export async function moveEntity(
  { entityType, entityId }: Entity,
  { targetState, comment }: { targetState: string; comment: string },
  approvalId?: string,
): Promise<TransitionResult> {
  const said = comment.trim();
  const body = {
    targetState,
    ...(said ? { comment: said } : {}),
    ...(approvalId === undefined ? {} : { approvalId }),
  };
  return (await workflow.postTransition({ params: { entityType, entityId }, body })).body;
}

export const approvalsQuery = infiniteQueryOptions({
  queryKey: ['approvals'],
  queryFn: async ({ pageParam, signal }) =>
    (await workflow.getApprovals({ list: { cursor: pageParam, pageSize: 30 }, signal })).body,
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) => nextCursor,
  refetchInterval: ({ state }) => 30_000 * pageCount(state.data),
});

export type Delegation = Awaited<ReturnType<typeof workflow.getDelegations>>['body'][number];

/** In whose place others decide: what the person gave and received, and what is not over. */
export const delegationsQuery = queryOptions({
  queryKey: ['delegations'],
  queryFn: async ({ signal }) => (await workflow.getDelegations({ signal })).body,
});

/** The state of an entity and what may become of it; null for a kind of entity that has no workflow. */
export const workflowStatusQuery = (entity: Entity) =>
  queryOptions({
    queryKey: ['workflow', entity.entityType, entity.entityId],
    queryFn: async ({ signal }) => {
      try {
        return (await workflow.getTransitions({ params: entity, signal })).body;
      } catch (error) {
        if (error instanceof ApiProblem && error.slug === 'entity-type-unknown') return null;
        throw error;
      }
    },
  });

export const workflowHistoryQuery = (entity: Entity) =>
  infiniteQueryOptions({
    queryKey: ['workflow', entity.entityType, entity.entityId, 'history'],
    queryFn: async ({ pageParam, signal }) =>
      (await workflow.getHistory({ params: entity, list: { cursor: pageParam, pageSize: 10 }, signal })).body,
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

export type WorkflowDefinition = Awaited<ReturnType<typeof workflow.getDefinitions>>['body'][number];
export type WorkflowTransition = WorkflowDefinition['transitions'][number];

export const definitionsQuery = queryOptions({
  queryKey: ['workflow-definitions'],
  queryFn: async ({ signal }) => (await workflow.getDefinitions({ signal })).body,
});

/** A definition as it is stored, and the tag of that version. */
export interface StoredDefinition {
  definition: WorkflowDefinition;
  etag: string | undefined;
}

/** The definition of a kind of entity; null where it has none. */
export const definitionQuery = (entityType: string) =>
  queryOptions({
    queryKey: ['workflow-definitions', entityType],
    queryFn: async ({ signal }): Promise<StoredDefinition | null> => {
      const query = { format: 'json' as const };
      try {
        const { body, etag } = await workflow.getDefinition({ params: { entityType }, query, signal });
        if (!('states' in body)) throw new Error('A definition was expected.');
        return { definition: body, etag };
      } catch (error) {
        if (error instanceof ApiProblem && error.slug === 'entity-type-unknown') return null;
        throw error;
      }
    },
  });

/** What the platform finds wrong with a definition that is being drawn. */
export const definitionErrorsQuery = (
  entityType: string,
  body: Pick<WorkflowDefinition, 'initialState' | 'states' | 'finalStates' | 'transitions'>,
) =>
  queryOptions({
    queryKey: ['workflow-definition-errors', entityType, body],
    queryFn: async ({ signal }) =>
      (await workflow.validateDefinition({ params: { entityType }, body, signal })).body.errors,
    placeholderData: (previous) => previous,
    staleTime: Infinity,
    gcTime: 10_000,
  });
