import { MutationObserver, onlineManager, QueryClient } from '@tanstack/react-query';
import { AskedMutations } from './asked-mutations';

afterEach(() => onlineManager.setOnline(true));

it('does what was asked for, also where the page says something else before there is a connection', async () => {
  const queries = new QueryClient({ mutationCache: new AskedMutations() });
  const sent: string[] = [];
  const done: string[] = [];
  const drawnWith = (choice: string) => ({
    mutationFn: async () => void sent.push(choice),
    onSuccess: () => void done.push(choice),
  });
  onlineManager.setOnline(false);
  const button = new MutationObserver(queries, drawnWith('internal note'));
  const stop = button.subscribe(() => undefined);
  const asked = button.mutate();
  button.setOptions(drawnWith('comment'));
  onlineManager.setOnline(true);
  await queries.resumePausedMutations();
  await asked;
  expect({ sent, done }).toEqual({ sent: ['internal note'], done: ['internal note'] });
  // The next one is as the page is now.
  await button.mutate();
  expect(sent).toEqual(['internal note', 'comment']);
  stop();
  queries.clear();
});
