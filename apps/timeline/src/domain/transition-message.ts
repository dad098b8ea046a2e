import type { transitionExecuted } from '@plinth/contracts/workflow/events';
import type { PayloadOf } from '@plinth/kernel/event';
import type { SystemMessage } from './entry';

type Transition = Pick<
  PayloadOf<typeof transitionExecuted>,
  'previousState' | 'newState' | 'comment' | 'approvalEnd'
>;

/** What is said of a transition: where the entity went, or why it is back where it was before somebody asked. */
export function transitionMessage({
  previousState,
  newState,
  comment,
  approvalEnd,
}: Transition): SystemMessage {
  return { key: keyOf(approvalEnd, comment), values: { previousState, newState, comment: comment ?? '' } };
}

function keyOf(end: Transition['approvalEnd'], comment: string | null): string {
  // Time ends these, and nobody says anything.
  if (end === 'Overtaken') return 'workflow.approval-overtaken';
  if (end === 'Expired') return 'workflow.approval-expired';
  const said = comment ? '-with-comment' : '';
  if (end === 'Denied') return `workflow.approval-denied${said}`;
  if (end === 'Withdrawn') return `workflow.approval-withdrawn${said}`;
  return `workflow.moved${said}`;
}
