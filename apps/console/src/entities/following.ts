import { mutationOptions, type QueryClient } from '@tanstack/react-query';
import { followersQuery, timeline } from '../api/timeline';
import type { Entity } from '../api/workflow';

/**
 * Follows an entity, or no longer, as it is said: `true` follows. One after the other, so that the last choice is the
 * one that stays; what is shown changes at once.
 */
export function followingChange(queries: QueryClient, entity: Entity, userId: string) {
  const { queryKey } = followersQuery(entity);
  const mutationKey = ['following', entity.entityType, entity.entityId];
  return mutationOptions({
    mutationKey,
    scope: { id: JSON.stringify(mutationKey) },
    mutationFn: (wanted: boolean) =>
      wanted ? timeline.followEntity({ params: entity }) : timeline.unfollowEntity({ params: entity }),
    onMutate: async (wanted) => {
      // What was asked before the choice would show that there was none.
      await queries.cancelQueries({ queryKey });
      queries.setQueryData(queryKey, (former = []) => {
        const others = former.filter((id) => id !== userId);
        return wanted ? [...others, userId] : others;
      });
    },
    onSettled: () =>
      // Before the last one the platform knows less than what is shown.
      queries.isMutating({ mutationKey }) > 1 ? undefined : queries.invalidateQueries({ queryKey }),
  });
}
