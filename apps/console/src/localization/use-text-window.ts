import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { PAGE_SIZE, textPageQuery, type TextFilter, type TextRow } from '../api/localization';
import { useAfterPaint } from '../components/after-paint';

/** Whoever drags the scrollbar passes thousands of pages; those are asked for on which they rest. */
const REST_MILLISECONDS = 80;

/** The rows of a long list that are in sight. Pages that were seen stay in memory for a while. */
export function useTextWindow(filter: TextFilter, first: number, last: number) {
  // A page of texts is large: what is around the grid comes first.
  const isTime = useAfterPaint();
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...textPageQuery(filter, 0),
    enabled: isTime,
    placeholderData: keepPreviousData,
  });
  const pages = useRested(Math.floor(first / PAGE_SIZE), Math.floor(last / PAGE_SIZE));
  const results = useQueries({
    queries: pages.map((page) => ({ ...textPageQuery(filter, page), enabled: isTime })),
  });
  const rowAt = (index: number): TextRow | undefined => {
    const page = Math.floor(index / PAGE_SIZE);
    const items = page === 0 ? data?.items : results[pages.indexOf(page)]?.data?.items;
    return items?.[index % PAGE_SIZE];
  };
  return { count: data?.totalCount ?? undefined, rowAt, error, refetch, isOld: isPlaceholderData };
}

function useRested(first: number, last: number): number[] {
  const [rested, setRested] = useState({ first, last });
  useEffect(() => {
    const timer = setTimeout(() => setRested({ first, last }), REST_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [first, last]);
  return Array.from({ length: rested.last - rested.first + 1 }, (_, index) => rested.first + index).filter(
    (page) => page >= 0,
  );
}
