interface Waiting {
  id: string;
}

/** What waits, and what waited before and waits no longer without a decision of this person. */
export interface Waited<Approval extends Waiting> {
  waiting: readonly Approval[];
  gone: readonly Approval[];
  /** By this person. */
  decided: ReadonlySet<string>;
}

/** After the list was read again. */
export function afterReading<Approval extends Waiting>(
  { waiting: before, gone, decided }: Waited<Approval>,
  waiting: readonly Approval[],
): Waited<Approval> {
  const ids = new Set(waiting.map(({ id }) => id));
  const left = before.filter(({ id }) => !ids.has(id) && !decided.has(id));
  return { waiting, gone: [...gone, ...left], decided };
}

/** After a decision of this person, which a list may have had before this page knew of it. */
export const afterDecision = <Approval extends Waiting>(
  { waiting, gone, decided }: Waited<Approval>,
  decidedId: string,
): Waited<Approval> => ({
  waiting,
  gone: gone.filter(({ id }) => id !== decidedId),
  decided: new Set([...decided, decidedId]),
});
