import { localizationEndpoints } from '@plinth/contracts/localization/endpoints';
import { createClient } from '@plinth/sdk/client';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { clientOptions } from './platform';
import {
  nameOf,
  withChanges,
  without,
  withoutLater,
  type TextChange,
  type TextChanges,
} from './text-changes';
import { onTextsRead } from './texts-read';
import { settledTexts, settleText, writeTexts } from './write-texts';

const localization = createClient(localizationEndpoints, clientOptions);

export type TextPage = Awaited<ReturnType<typeof localization.listLocalizationTexts>>['body'];
export type TextRow = TextPage['items'][number];
export type TextCell = TextRow['values'][number];

export const PAGE_SIZE = 100;

/** Which texts the grid lists. */
export interface TextFilter {
  search: string;
  resourceName: string;
  show: 'all' | 'overridden' | 'drifted';
}

/** A page of the list; the first one is 0. It alone says how many texts there are, for which all of them are counted. */
export const textPageQuery = ({ search, resourceName, show }: TextFilter, page: number) =>
  queryOptions({
    queryKey: ['text-list', { search, resourceName, show }, page],
    queryFn: async ({ signal }) => {
      const query = { show, ...(resourceName ? { resourceName } : {}) };
      const list = {
        page: page + 1,
        pageSize: PAGE_SIZE,
        ...(search ? { search } : {}),
        ...(page > 0 ? { skipTotalCount: true } : {}),
      };
      return (await localization.listLocalizationTexts({ query, list, signal })).body;
    },
    staleTime: 60_000,
  });

interface ChangeOutcome {
  /** What undoes what was done. */
  undo: TextChange[];
  /** Why some of it was refused. */
  refused: string[];
  /** What was not written, since somebody else wrote there meanwhile. */
  overtaken: TextChange[];
}

export interface TextListener {
  /** What the list shows of texts is this from now on. */
  onShown: (texts: readonly TextChange[]) => void;
  /** These are in the list now, which others wrote, or which were there before. */
  onRead: (texts: readonly TextChange[]) => void;
  onSaved: (sent: TextChanges, outcome: ChangeOutcome) => void;
  /** With what nothing that was sent after it changes too. */
  onFailed: (failed: TextChanges, error: Error) => void;
}

const mutationKey = ['texts'];

/** Changes texts; the grid shows them at once, and as they were where the platform refuses them. */
export function useTextChanges({ onShown, onRead, onSaved, onFailed }: TextListener) {
  const queries = useQueryClient();
  const isOutdated = useRef(false);
  const unsettled = useRef(settledTexts());
  // Of these the list shows what was sent, or what was there before it, until it is read again.
  const guessed = useRef(new Set<string>());
  // What was sent last of that which has its response: it is pending until the list is read.
  const settling = useRef<TextChanges>(undefined);
  const laterThan = (sent?: TextChanges): TextChange[] =>
    queries
      .getMutationCache()
      .findAll({ mutationKey, status: 'pending' })
      .map(({ state }) => state.variables as TextChanges)
      .flatMap((one) => (one === sent ? [] : one.changes));
  const show = (changes: readonly TextChange[]) => {
    queries.setQueriesData<TextPage>(
      { queryKey: ['text-list'] },
      (page) => page && { ...page, items: page.items.map((row) => withChanges(row, changes)) },
    );
    onShown(changes);
  };
  const takeRead = useEffectEvent((texts: TextChange[]) => {
    // It may have been asked for before what is under way, or after it.
    if (laterThan(settling.current).length > 0) return;
    const { refused } = unsettled.current;
    const read = texts.filter((one) => guessed.current.has(nameOf(one)) || refused.has(nameOf(one)));
    const own = read.filter((text) => settleText(unsettled.current, text));
    for (const text of read) guessed.current.delete(nameOf(text));
    if (own.length > 0) onShown(own);
    if (own.length < read.length) onRead(without(read, own));
  });
  useEffect(() => onTextsRead(queries, takeRead), [queries]);
  return useMutation({
    mutationKey,
    // One after the other: what is sent again never comes after what is newer.
    scope: { id: 'texts' },
    mutationFn: async ({ changes, before, expected = before }: TextChanges): Promise<ChangeOutcome> => {
      const outcome = await writeTexts(localization, { changes, expected }, unsettled.current);
      const { written, refused, overtaken } = outcome;
      for (const change of written) guessed.current.delete(nameOf(change));
      for (const change of [...overtaken, ...refused.map(({ change }) => change)])
        guessed.current.add(nameOf(change));
      return {
        undo: without(before, without(before, written)),
        refused: refused.map(({ change, detail }) => `${change.key}: ${detail}`),
        overtaken,
      };
    },
    onMutate: ({ changes }) => {
      // A list that is on its way does not have them.
      isOutdated.current ||= queries.isFetching({ queryKey: ['text-list'] }) > 0;
      show(changes);
    },
    onSuccess: (outcome, sent) => onSaved(sent, outcome),
    onError: (error, sent) => {
      for (const change of sent.changes) guessed.current.add(nameOf(change));
      const failed = withoutLater(sent, laterThan(sent));
      show(failed.expected ?? failed.before);
      onFailed(failed, error);
    },
    onSettled: async (outcome, _error, sent) => {
      isOutdated.current ||= !outcome || outcome.refused.length + outcome.overtaken.length > 0;
      // A list that is asked for now would not have what is still under way.
      if (laterThan(sent).length > 0) return;
      // Overrides of which the list is made come and go.
      const refetchType = isOutdated.current ? 'active' : 'none';
      isOutdated.current = false;
      settling.current = sent;
      await queries.invalidateQueries({ queryKey: ['text-list'], refetchType });
    },
  });
}
