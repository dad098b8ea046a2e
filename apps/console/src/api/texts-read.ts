import type { QueryClient } from '@tanstack/react-query';
import type { TextPage } from './localization';
import type { TextChange } from './text-changes';

/**
 * Calls with the texts of each page of the list that was just read, whoever asked for it; what is put there from here
 * was not read.
 * @returns what ends it
 */
export const onTextsRead = (queries: QueryClient, take: (texts: TextChange[]) => void): (() => void) =>
  queries.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated' || event.query.queryKey[0] !== 'text-list') return;
    if (event.action.type !== 'success' || event.action.manual) return;
    const { items } = event.query.state.data as TextPage;
    take(
      items.flatMap(({ resourceName, key, values }) =>
        values.map(({ cultureName, value }) => ({ resourceName, key, cultureName, value })),
      ),
    );
  });
