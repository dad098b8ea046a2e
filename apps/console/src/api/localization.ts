import { localizationEndpoints } from '@plinth/contracts/localization/endpoints';
import { createClient } from '@plinth/sdk/client';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { clientOptions } from './platform';
import { nameOf, withoutLater, type TextChange, type TextChanges } from './text-changes';

const localization = createClient(localizationEndpoints, clientOptions);

export type TextPage = Awaited<ReturnType<typeof localization.listLocalizationTexts>>['body'];
export type TextRow = TextPage['items'][number];
export type TextCell = TextRow['values'][number];

export const PAGE_SIZE = 100;
const BATCH_MAX = 500;

/** Which texts the grid lists. */
export interface TextFilter {
  search: string;
  resourceName: string;
  show: 'all' | 'overridden' | 'drifted';
}

/** A page of the list; the first one is 0. */
export const textPageQuery = ({ search, resourceName, show }: TextFilter, page: number) =>
  queryOptions({
    queryKey: ['text-list', { search, resourceName, show }, page],
    queryFn: async ({ signal }) => {
      const query = { show, ...(resourceName ? { resourceName } : {}) };
      const list = { page: page + 1, pageSize: PAGE_SIZE, ...(search ? { search } : {}) };
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

const isText = (change: TextChange): change is TextChange & { value: string } => change.value !== null;

type BatchError = NonNullable<
  Awaited<ReturnType<typeof localization.putLocalizationOverrides>>['body']['results'][number]['error']
>;

/** Why some of the texts were refused, by their names. @param before what they replace, as far as that is known */
async function putOverrides(
  texts: (TextChange & { value: string })[],
  before: readonly TextChange[],
): Promise<Map<string, BatchError>> {
  if (texts.length === 0) return new Map();
  const former = new Map(before.map((one) => [nameOf(one), one.value]));
  const items = texts.map((text) => {
    const formerValue = former.get(nameOf(text));
    return formerValue === undefined ? text : { ...text, formerValue };
  });
  const { body } = await localization.putLocalizationOverrides({ body: { items } });
  return new Map(
    body.results.flatMap(({ error }, index) => (error ? [[nameOf(texts[index]!), error] as const] : [])),
  );
}

interface TextListener {
  onSaved: (sent: TextChanges, outcome: ChangeOutcome) => void;
  /** With what nothing that was sent after it changes too. */
  onFailed: (failed: TextChanges, error: Error) => void;
}

const mutationKey = ['texts'];

/** Changes texts; the grid shows them at once, and as they were where the platform refuses them. */
export function useTextChanges({ onSaved, onFailed }: TextListener) {
  const queries = useQueryClient();
  const isOutdated = useRef(false);
  // Of these nobody knows here what the platform has: this page wrote them and got no response.
  const uncertain = useRef(new Set<string>());
  const laterThan = (sent: TextChanges): TextChange[] =>
    queries
      .getMutationCache()
      .findAll({ mutationKey, status: 'pending' })
      .map(({ state }) => state.variables as TextChanges)
      .flatMap((one) => (one === sent ? [] : one.changes));
  const show = (changes: readonly TextChange[]): TextChange[] => {
    const byName = new Map(changes.map((change) => [nameOf(change), change]));
    const before = new Map<string, TextChange>();
    queries.setQueriesData<TextPage>({ queryKey: ['text-list'] }, (page) => {
      if (!page) return page;
      const items = page.items.map((row) => {
        const { resourceName, key } = row;
        const values = row.values.map((cell) => {
          const { cultureName, value } = cell;
          const change = byName.get(nameOf({ resourceName, key, cultureName, value }));
          if (!change) return cell;
          before.set(nameOf(change), { resourceName, key, cultureName, value });
          return { ...cell, value: change.value, replacedValue: cell.platformValue, hasDrifted: false };
        });
        return { ...row, values };
      });
      return { ...page, items };
    });
    return [...before.values()];
  };
  return useMutation({
    mutationKey,
    // One after the other: what is sent again never comes after what is newer.
    scope: { id: 'texts' },
    mutationFn: async ({ changes, before, expected = before }: TextChanges) => {
      const outcome: ChangeOutcome = { undo: [], refused: [], overtaken: [] };
      for (let from = 0; from < changes.length; from += BATCH_MAX) {
        const batch = changes.slice(from, from + BATCH_MAX);
        const removals = batch.filter(({ value }) => value === null);
        const refused = await putOverrides(
          batch.filter(isText),
          expected.filter((one) => !uncertain.current.has(nameOf(one))),
        );
        if (removals.length > 0) {
          const items = removals.map(({ value: _, ...key }) => key);
          await localization.removeLocalizationOverrides({ body: { items } });
        }
        for (const change of batch) {
          const name = nameOf(change);
          uncertain.current.delete(name);
          const error = refused.get(name);
          if (!error) outcome.undo.push(...before.filter((one) => nameOf(one) === name));
          else if (error.status === 409) outcome.overtaken.push(change);
          else outcome.refused.push(`${change.key}: ${error.detail}`);
        }
      }
      return outcome;
    },
    onMutate: ({ changes }) => {
      // A list that is on its way does not have them.
      isOutdated.current ||= queries.isFetching({ queryKey: ['text-list'] }) > 0;
      show(changes);
    },
    onSuccess: (outcome, sent) => onSaved(sent, outcome),
    onError: (error, sent) => {
      for (const change of sent.changes) uncertain.current.add(nameOf(change));
      const failed = withoutLater(sent, laterThan(sent));
      show(failed.before);
      onFailed(failed, error);
    },
    onSettled: async (outcome, _error, sent) => {
      isOutdated.current ||= !outcome || outcome.refused.length + outcome.overtaken.length > 0;
      // A list that is asked for now would not have what is still under way.
      if (laterThan(sent).length > 0) return;
      // Overrides of which the list is made come and go.
      const refetchType = isOutdated.current ? 'active' : 'none';
      isOutdated.current = false;
      await queries.invalidateQueries({ queryKey: ['text-list'], refetchType });
    },
  });
}
