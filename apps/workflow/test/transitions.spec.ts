import { permissions } from '@plinth/contracts/permissions';
import { aCaller } from '@plinth/testing/http';
import { USER } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';

describe('transitions of an entity', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow();
  });
  afterAll(() => service.close());

  it('start in the initial state of the entity type, and are listed from there', async () => {
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

  it('move the entity and appear in its history, newest first', async () => {
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

  it('result in InvalidTransition for a target that is unreachable or unknown', async () => {
    const http = service.as(aCaller());
    for (const targetState of ['Paid', 'Draft', 'Nowhere', 'PendingApproval']) {
      const { status, body } = await http.post('/workflow/Invoice/1/transition', { targetState });
      expect(status).toBe(200);
      expect(body).toEqual({ succeeded: false, resultingState: 'Draft', outcome: 'InvalidTransition' });
    }
    expect((await http.get('/workflow/Invoice/1/history')).body.totalCount).toBe(0);
  });

  it('result in Denied with a reason where the permission of the transition is missing', async () => {
    const http = service.as(aCaller({ permissions: USER }));
    const { body } = await http.post('/workflow/Template/welcome/transition', {
      targetState: 'PendingReview',
    });

    expect(body).toEqual({ succeeded: false, resultingState: 'Draft', outcome: 'Denied' });
    const { body: shown } = await http.get('/workflow/Template/welcome/transitions');
    expect(shown.availableTransitions).toEqual([
      {
        targetState: 'PendingReview',
        name: 'Submit',
        allowed: false,
        requiresApproval: false,
        reasons: ['You need the permission Templating.Templates.Manage.'],
      },
    ]);
  });

  it('are listed as not allowed for callers who may only read', async () => {
    const http = service.as(aCaller({ permissions: ['Workflow.Transitions.Read'] }));
    const { body } = await http.get('/workflow/Invoice/1/transitions');
    expect(body.availableTransitions[0]).toMatchObject({
      allowed: false,
      reasons: ['You need the permission Workflow.Transitions.Execute.'],
    });
  });

  it.each([
    ['GET', '/workflow/Nothing/1/transitions', undefined],
    ['GET', '/workflow/constructor/1/transitions', undefined],
    ['GET', '/workflow/__proto__/1/history', undefined],
    ['POST', '/workflow/Nothing/1/transition', { targetState: 'X' }],
    ['GET', '/workflow/definitions/Nothing', undefined],
  ])('are 404 for an entity type without a definition: %s %s', async (method, path, body) => {
    const response = await service.as(aCaller()).send(method, path, { body });
    expect(response.status).toBe(404);
    expect(response.body.type).toMatch(/\/problems\/entity-type-unknown$/);
  });

  it.each([
    [422, { comment: 'no target' }],
    [422, { targetState: null }],
    [422, { targetState: '' }],
    [422, { targetState: 'Submitted', comment: 'x'.repeat(4001) }],
    [422, { targetState: 'Submitted', comment: 'NUL \0' }],
    [400, { targetState: 5 }],
    [400, { targetState: { not: '' } }],
    [400, []],
  ])('are refused with %i for a malformed request', async (status, body) => {
    const response = await service.as(aCaller()).post('/workflow/Invoice/1/transition', body);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toMatch('application/problem+json');
  });

  it('accept and distinguish all ids that a path can hold', async () => {
    const http = service.as(aCaller());
    const ids = [
      'a/b',
      'a%b',
      'welcome~fr-CA',
      'ünï',
      '__proto__',
      'transitions of an entity',
      "'; DROP TABLE entity",
      'x'.repeat(300),
    ];
    for (const id of ids) {
      const path = `/workflow/Invoice/${encodeURIComponent(id)}`;
      expect((await http.get(`${path}/transitions`)).body.currentState).toBe('Draft');
      await http.post(`${path}/transition`, { targetState: 'Submitted' });
      expect((await http.get(`${path}/transitions`)).body.currentState).toBe('Submitted');
    }
    expect((await http.get(`/workflow/Invoice/${'x'.repeat(301)}/transitions`)).status).toBe(422);
  });

  it.each([
    ['Workflow.Transitions.Read', 'GET', '/workflow/Invoice/1/transitions'],
    ['Workflow.Transitions.Execute', 'POST', '/workflow/Invoice/1/transition'],
    ['Workflow.Transitions.Execute', 'POST', '/workflow/transitions'],
    ['Workflow.History.Read', 'GET', '/workflow/Invoice/1/history'],
    ['Workflow.Transitions.Read', 'GET', '/workflow/approvals'],
    ['Workflow.Transitions.Read', 'GET', '/workflow/delegations'],
    ['Workflow.Transitions.Execute', 'POST', '/workflow/delegations'],
    ['Workflow.Transitions.Read', 'GET', '/workflow/definitions'],
    ['Workflow.Transitions.Read', 'GET', '/workflow/definitions/Invoice'],
    ['Workflow.Definitions.Manage', 'PUT', '/workflow/definitions/Invoice'],
    ['Workflow.Definitions.Manage', 'DELETE', '/workflow/definitions/Invoice'],
  ])('need the permission %s for %s %s', async (permission, method, path) => {
    const others = permissions.filter((name) => name !== permission);
    const { status } = await service.as(aCaller({ permissions: others })).send(method, path);
    expect(status).toBe(403);
    expect((await service.as(null).send(method, path)).status).toBe(401);
  });

  it('are executed once for all retries of one operation', async () => {
    const caller = aCaller();
    const http = service.as({ ...caller, operationId: 'operation-1' });
    const request = () => http.post('/workflow/Invoice/1/transition', { targetState: 'Submitted' });

    const responses = await Promise.all([request(), request(), request(), request()]);
    const later = await request();

    for (const { body } of [...responses, later])
      expect(body).toEqual({ succeeded: true, resultingState: 'Submitted', outcome: 'Completed' });
    expect((await http.get('/workflow/Invoice/1/history')).body.totalCount).toBe(1);
  });

  it('are 422 for another target under the idempotency key of an operation that was executed', async () => {
    const caller = aCaller({ operationId: 'operation-1' });
    const request = (operationBodyHash: string, targetState: string) =>
      service.as({ ...caller, operationBodyHash }).post('/workflow/Invoice/1/transition', { targetState });
    await request('first', 'Submitted');

    expect(await request('second', 'Approved')).toMatchObject({
      status: 422,
      body: { type: expect.stringContaining('/problems/idempotency-payload-mismatch') },
    });
    expect((await request('first', 'Submitted')).body).toMatchObject({ outcome: 'Completed' });
  });
});
