import { QueryClient } from '@tanstack/react-query';
import type { TextChange } from './text-changes';
import { onTextsRead } from './texts-read';

const page = (value: string) => ({
  items: [
    {
      resourceName: 'Shop',
      key: 'title',
      values: [
        { cultureName: 'en', value, platformValue: null, replacedValue: null, hasDrifted: false },
        { cultureName: 'fr', value: null, platformValue: null, replacedValue: null, hasDrifted: false },
      ],
    },
  ],
});

describe('a list of texts', () => {
  it('says what it is whenever it was read, and not what is put there or of what there was no response', async () => {
    const queries = new QueryClient({ defaultOptions: { queries: { gcTime: Infinity, retry: false } } });
    const read: TextChange[][] = [];
    const end = onTextsRead(queries, (texts) => read.push(texts));
    const queryKey = ['text-list', {}, 0];
    const fails = () => Promise.reject(new TypeError('Failed to fetch'));
    await expect(queries.fetchQuery({ queryKey, queryFn: fails })).rejects.toThrow('Failed to fetch');
    await queries.fetchQuery({ queryKey: ['other'], queryFn: () => page('other') });
    queries.setQueryData(queryKey, page('guessed'));
    expect(read).toEqual([]);
    await queries.fetchQuery({ queryKey, queryFn: () => page('theirs') });
    const title = { resourceName: 'Shop', key: 'title' };
    expect(read).toEqual([
      [
        { ...title, cultureName: 'en', value: 'theirs' },
        { ...title, cultureName: 'fr', value: null },
      ],
    ]);
    end();
    await queries.fetchQuery({ queryKey, queryFn: () => page('later') });
    expect(read).toHaveLength(1);
  });
});
