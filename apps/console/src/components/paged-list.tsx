import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useDeferredValue, type ReactNode } from 'react';
import { useTexts } from '../texts/texts';
import { Button } from './button';
import { useShownError } from './shown-error';
import { Failure, Skeleton } from './state';

type Pages<Item> = InfiniteData<{ items: readonly Item[] }>;

interface PagedListProps<Item> {
  query: UseInfiniteQueryResult<Pages<Item>>;
  /** Lines in the place of what is being loaded. */
  skeleton: { lines: number; height: string };
  /** What is shown where there is nothing. */
  empty: ReactNode;
  children: (items: readonly Item[]) => ReactNode;
}

/** Everything that was loaded so far; undefined before the first page. */
export const itemsOf = <Item,>(data: Pages<Item> | undefined): Item[] | undefined =>
  data?.pages.flatMap(({ items }) => items);

/** A list that is loaded page by page, in each of its states. */
export function PagedList<Item>({ query, skeleton, empty, children }: PagedListProps<Item>) {
  const error = useShownError(query);
  const { refetch, isFetchNextPageError } = query;
  // A long list is rendered in pieces, between which keys and clicks are answered.
  const items = itemsOf(useDeferredValue(query.data));
  return (
    <>
      {error && !isFetchNextPageError && <Failure error={error} onRetry={refetch} />}
      {!items && !error && <Skeleton {...skeleton} />}
      {items?.length === 0 && <div className="panel">{empty}</div>}
      {items && items.length > 0 && children(items)}
      <LoadMore query={query} />
    </>
  );
}

interface LoadMoreProps {
  query: Pick<
    UseInfiniteQueryResult,
    'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'error'
  >;
}

/** The button that loads the next page; nothing where there is none. */
export function LoadMore({ query }: LoadMoreProps) {
  const { t } = useTexts();
  const { hasNextPage, fetchNextPage, isFetchingNextPage, isFetchNextPageError, error } = query;
  if (!hasNextPage) return null;
  if (isFetchNextPageError && error) return <Failure error={error} onRetry={fetchNextPage} />;
  return (
    <div>
      <Button isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
        {t('Platform.lists.loadMore')}
      </Button>
    </div>
  );
}
