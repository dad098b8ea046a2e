import { useState } from 'react';
import { useTextChanges } from '../api/localization';
import { withoutLater, type TextChange, type TextChanges } from '../api/text-changes';

/** What somebody changes on this page: what undoes it, and what the platform did not take. */
export function useTextEdits() {
  const [past, setPast] = useState<TextChange[][]>([]);
  // It is not written twice: it is sent again.
  const [unsaved, setUnsaved] = useState<TextChanges>({ changes: [], before: [] });
  const [failure, setFailure] = useState<Error>();
  const [refused, setRefused] = useState<string[]>([]);
  const { mutate, isPending } = useTextChanges({
    onSaved: ({ changes }, outcome) => {
      const saved = new Set(changes);
      setPast((all) => {
        const left = all.filter((undo) => !undo.every((change) => saved.has(change)));
        return outcome.undo.length > 0 ? [...left, outcome.undo] : left;
      });
      setRefused((all) => [...all, ...outcome.refused]);
    },
    onFailed: ({ changes, before }, error) => {
      setFailure(error);
      setUnsaved((all) => ({
        changes: [...all.changes, ...changes],
        before: [...all.before, ...before],
      }));
    },
  });
  const apply = (sent: TextChanges) => {
    setUnsaved((all) => withoutLater(all, sent.changes));
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
    undoCount: last?.length ?? 0,
    apply,
    undo: () => {
      if (last && !isPending) apply({ changes: last, before: [] });
    },
    retry: () => apply(unsaved),
  };
}
