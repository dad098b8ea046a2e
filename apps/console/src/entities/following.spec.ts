import { MutationObserver, onlineManager, QueryClient } from '@tanstack/react-query';
import { followersQuery, timeline } from '../api/timeline';
import { followingChange } from './following';

jest.mock('../api/platform', () => ({ clientOptions: { baseUrl: 'http://platform.test' } }));

const order = { entityType: 'Order', entityId: '1' };

afterEach(() => {
  onlineManager.setOnline(true);
  jest.restoreAllMocks();
});

it('sends what was chosen without a connection, in that order, and shows it meanwhile', async () => {
  const sent: string[] = [];
  const take = (call: string) => async () => {
    sent.push(call);
    return {} as never;
  };
  jest.spyOn(timeline, 'followEntity').mockImplementation(take('follow'));
  jest.spyOn(timeline, 'unfollowEntity').mockImplementation(take('unfollow'));
  const queries = new QueryClient();
  const { queryKey } = followersQuery(order);
  queries.setQueryData(queryKey, ['grace']);
  const again = jest.spyOn(queries, 'invalidateQueries');
  const button = new MutationObserver(queries, followingChange(queries, order, 'ada'));

  onlineManager.setOnline(false);
  const choices = [true, false, true].map((wanted) => button.mutate(wanted));
  // Drawn again, with what is shown now.
  button.setOptions(followingChange(queries, order, 'ada'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(queries.getQueryData(queryKey)).toEqual(['grace', 'ada']);
  expect(sent).toEqual([]);

  onlineManager.setOnline(true);
  await queries.resumePausedMutations();
  await Promise.all(choices);
  expect(sent).toEqual(['follow', 'unfollow', 'follow']);
  expect(again).toHaveBeenCalledTimes(1);
  queries.clear();
});
