import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import type { Api } from '@plinth/http/api';
import { noContent } from '@plinth/http/response';
import type { Deps } from '../compose';
import { audienceOf } from '../domain/audience';
import { personNotFound } from '../domain/problems';

const { followEntity, unfollowEntity, getFollowers, putFollower, deleteFollower } = timelineEndpoints;

export function mountFollowers(api: Api, { followers, people }: Pick<Deps, 'followers' | 'people'>): void {
  api.on(followEntity, async ({ params, caller }) => {
    await followers.follow(caller, params, caller.userId);
    return noContent();
  });

  api.on(unfollowEntity, async ({ params, caller }) => {
    await followers.unfollow(caller, params, caller.userId);
    return noContent();
  });

  api.on(getFollowers, ({ params, caller }) => followers.list(audienceOf(caller), params));

  api.on(putFollower, async ({ params: { userId, ...entity }, caller }) => {
    if (!(await people.isKnown(caller.tenantId, userId))) throw personNotFound();
    await followers.follow(caller, entity, userId);
    return noContent();
  });

  api.on(deleteFollower, async ({ params: { userId, ...entity }, caller }) => {
    await followers.unfollow(caller, entity, userId);
    return noContent();
  });
}
