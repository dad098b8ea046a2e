import type { Approval } from './approval';
import { changeOf, rowsWithComment } from './change';
import type { Effect } from './transition';

const approval = { id: '1', transitionName: 'Pay', formerState: 'Draft', targetState: 'Paid' } as Approval;
const effects: Effect[] = [
  { kind: 'move', transitionName: 'Pay', from: 'Draft', to: 'Paid' },
  { kind: 'request', approval: { ...approval, comment: 'Please' } },
  { kind: 'agree', approval, seat: 'ada', given: 1 },
  { kind: 'approve', approval, seat: 'ada' },
  { kind: 'deny', approval },
  { kind: 'withdraw', approval },
];

describe('the comment of a transition', () => {
  it.each(effects)('is counted wherever it is written: $kind', (effect) => {
    const change = changeOf(effect, {
      entityType: 'Invoice',
      entityId: '1',
      actor: { userId: 'ada', userName: 'Ada' },
      comment: 'Please',
      at: new Date(0),
    });
    const { move, opened, vote } = change;
    const comments = {
      move: move?.comment,
      approval: opened?.comment,
      approval_vote: vote && change.comment,
    };
    const written = Object.entries(comments).filter(([, comment]) => comment === 'Please');
    expect(rowsWithComment(effect)).toEqual(written.map(([row]) => row));
  });
});
