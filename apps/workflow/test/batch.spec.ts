import { aCaller } from '@plinth/testing/http';
import { startWorkflow, type Workflow } from './start-workflow';

describe('POST /workflow/transitions', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow();
  });
  afterAll(() => service.close());

  it('returns one result per item, in the order of the request', async () => {
    const http = service.as(aCaller());
    const submit = { entityType: 'Invoice', entityId: '1', targetState: 'Submitted' };
    const { status, body } = await http.post('/workflow/transitions', {
      items: [
        submit,
        { ...submit, entityType: 'Nothing' },
        submit,
        { ...submit, entityId: '2', comment: 'Ready' },
      ],
    });

    expect(status).toBe(207);
    const done = { succeeded: true, resultingState: 'Submitted', outcome: 'Completed' };
    expect(body).toEqual({
      results: [
        { value: done, isSuccess: true, error: null },
        {
          value: null,
          isSuccess: false,
          error: { status: 404, detail: 'No workflow is defined for the entity type "Nothing".' },
        },
        {
          value: { succeeded: false, resultingState: 'Submitted', outcome: 'InvalidTransition' },
          isSuccess: true,
          error: null,
        },
        { value: done, isSuccess: true, error: null },
      ],
      successCount: 3,
      failureCount: 1,
    });
    expect((await http.get('/workflow/Invoice/2/history')).body.items[0].comment).toBe('Ready');
  });

  it.each([
    ['no items', []],
    [
      'too many items',
      Array.from({ length: 501 }, () => ({ entityType: 'Invoice', entityId: '1', targetState: 'X' })),
    ],
    [
      'an entity type of 101 characters',
      [{ entityType: 'x'.repeat(101), entityId: '1', targetState: 'Submitted' }],
    ],
    [
      'an entity type with a line break',
      [{ entityType: 'In\nvoice', entityId: '1', targetState: 'Submitted' }],
    ],
    ['an item without a target', [{ entityType: 'Invoice', entityId: '1' }]],
  ])('refuses the whole batch when it has %s', async (_description, items) => {
    const { status, body } = await service.as(aCaller()).post('/workflow/transitions', { items });
    expect(status).toBe(422);
    expect(Object.keys(body.errors)[0]).toMatch(/^items/);
  });

  it('executes each item once for all retries of one operation', async () => {
    const caller = aCaller();
    const http = service.as({ ...caller, operationId: 'batch-1' });
    const items = [
      { entityType: 'Invoice', entityId: '1', targetState: 'Submitted' },
      { entityType: 'Invoice', entityId: '1', targetState: 'Draft' },
    ];
    const first = await http.post('/workflow/transitions', { items });
    const again = await http.post('/workflow/transitions', { items });

    expect(again.body).toEqual(first.body);
    expect((await http.get('/workflow/Invoice/1/history')).body.totalCount).toBe(2);
  });

  it('is 422 as a whole for other items under the idempotency key of a batch', async () => {
    const caller = aCaller({ operationId: 'batch-1' });
    const item = { entityType: 'Invoice', targetState: 'Submitted' };
    const sending = (operationBodyHash: string, ...entityIds: string[]) =>
      service.as({ ...caller, operationBodyHash }).post('/workflow/transitions', {
        items: entityIds.map((entityId) => ({ ...item, entityId })),
      });
    await sending('first', '1');

    expect(await sending('second', '1', '2')).toMatchObject({
      status: 422,
      body: { type: expect.stringContaining('/problems/idempotency-payload-mismatch') },
    });
    expect((await service.as(caller).get('/workflow/Invoice/2/history')).body.totalCount).toBe(0);
    expect((await sending('first', '1')).body.successCount).toBe(1);
  });
});
