import { aCaller } from '@plinth/testing/http';
import { startWorkflow, type Workflow } from './start-workflow';

describe('transitions', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow();
  });
  afterAll(() => service.close());

  it('finds an entity that nobody moved in its initial state, with the ways from there', async () => {
    const { status, headers, body } = await service.as(aCaller()).get('/workflow/Invoice/17/transitions');

    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(body).toEqual({
      currentState: 'Draft',
      availableTransitions: [
        { targetState: 'Submitted', name: 'Submit', allowed: true, requiresApproval: false, reasons: [] },
        { targetState: 'Cancelled', name: 'Cancel', allowed: true, requiresApproval: false, reasons: [] },
      ],
    });
  });

  it('moves an entity and tells it in the history, newest first', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const first = await http.post('/workflow/Invoice/18/transition', {
      targetState: 'Submitted',
      comment: 'Ready',
    });
    const second = await http.post('/workflow/Invoice/18/transition', { targetState: 'Draft' });

    expect(first.status).toBe(200);
    expect(first.body).toEqual({ succeeded: true, resultingState: 'Submitted', outcome: 'Completed' });
    expect(second.body).toEqual({ succeeded: true, resultingState: 'Draft', outcome: 'Completed' });
    const { body } = await http.get('/workflow/Invoice/18/history');
    expect(body).toMatchObject({
      items: [
        { previousState: 'Submitted', newState: 'Draft', transitionedBy: caller.userId, comment: null },
        { previousState: 'Draft', newState: 'Submitted', transitionedBy: caller.userId, comment: 'Ready' },
      ],
      totalCount: 2,
      nextCursor: null,
    });
  });
});
