import { useState } from 'react';
import { useTextChanges, type TextListener } from '../api/localization';
import { without, withoutLater, type TextChange, type TextChanges } from '../api/text-changes';

/**
 * What somebody changes on this page: what undoes it, and what the platform did not take.
 * @param listener is told what the list shows of texts from then on, and what others wrote of it
 */
export function useTextEdits(listener: Pick<TextListener, 'onShown' | 'onRead'>) {
  const [past, setPast] = useState<TextChanges[]>([]);
  // It is not written twice: it is sent again.
  const [unsaved, setUnsaved] = useState<Required<TextChanges>>({ changes: [], before: [], expected: [] });
  const [failure, setFailure] = useState<Error>();
  const [refused, setRefused] = useState<string[]>([]);
  const [overtaken, setOvertaken] = useState<readonly TextChange[]>([]);
  const { mutate, isPending } = useTextChanges({
    ...listener,
    onSaved: ({ changes }, outcome) => {
      const saved = new Set(changes);
      setPast((all) => {
        const left = all.filter((undo) => !undo.changes.every((change) => saved.has(change)));
        // What somebody else writes there later is not taken away by an undo.
        const expected = without(changes, without(changes, outcome.undo));
        const undo = { changes: outcome.undo, before: [], expected };
        return outcome.undo.length > 0 ? [...left, undo] : left;
      });
      setRefused((all) => [...all, ...outcome.refused]);
      setOvertaken((all) => [...without(all, outcome.overtaken), ...outcome.overtaken]);
    },
    onFailed: ({ changes, before, expected = before }, error) => {
      setFailure(error);
      setUnsaved((all) => ({
        changes: [...all.changes, ...changes],
        before: [...all.before, ...before],
        expected: [...all.expected, ...expected],
      }));
    },
  });
  const apply = (sent: TextChanges) => {
    setUnsaved((all) => ({ ...all, ...withoutLater(all, sent.changes) }));
    setOvertaken((all) => without(all, sent.changes));
    if (!isPending) setRefused([]);
    mutate(sent);
  };
  const last = past.at(-1);
  return {
    isPending,
    /** Why some texts were refused. */
    refused,
    /** Why some texts could not be sent. */
    failure: unsaved.changes.length > 0 ? failure : undefined,
    /** How many texts {@link undo} changes. */
    undoCount: last?.changes.length ?? 0,
    apply,
    undo: () => {
      if (last && !isPending) apply(last);
    },
    retry: () => apply(unsaved),
    /** What somebody else was first with: it is theirs until this person decides. */
    overtaken,
    writeAnyway: () => apply({ changes: overtaken, before: [] }),
    leaveTheirs: () => setOvertaken([]),
  };
}
