import { ApprovalEnd } from '@plinth/contracts/workflow/events';
import { bodyIn } from './system-text';
import { transitionMessage } from './transition-message';

describe('what is said of a transition', () => {
  const back = { previousState: 'PendingApproval', newState: 'Submitted', comment: null };

  it.each([
    ['Denied', 'Approval denied, back to Submitted.', 'Approval denied, back to Submitted: Too much'],
    [
      'Withdrawn',
      'Request for approval withdrawn, back to Submitted.',
      'Request for approval withdrawn, back to Submitted: Too much',
    ],
    [
      undefined,
      'Moved from Waiting for approval to Submitted.',
      'Moved from Waiting for approval to Submitted: Too much',
    ],
  ] as const)('after a request that was %s', (approvalEnd, text, withComment) => {
    const said = (comment: string | null) =>
      bodyIn('en', { body: '', message: transitionMessage({ ...back, approvalEnd, comment }) });
    expect(said(null)).toBe(text);
    expect(said('Too much')).toBe(withComment);
  });

  it('has words for every end of a request', () => {
    for (const approvalEnd of Object.values(ApprovalEnd))
      for (const culture of ['en', 'fr'] as const) {
        const message = transitionMessage({ ...back, approvalEnd });
        expect(bodyIn(culture, { body: '', message })).not.toContain('workflow.');
      }
  });
});
