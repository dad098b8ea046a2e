import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { aCaller } from '@plinth/testing/http';
import { orderDefinition } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';

const host = () => aCaller({ tenantId: HOST_TENANT_ID });

describe('definitions', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow();
  });
  afterAll(() => service.close());

  it('are there for templates, for what services bring along and, as a sample, for invoices', async () => {
    const { body } = await service.as(aCaller()).get('/workflow/definitions');
    expect(body).toMatchObject([
      { entityType: 'Contact', scope: 'Platform', initialState: 'Prospect', finalStates: ['Archived'] },
      { entityType: 'Invoice', scope: 'Platform', version: 1, savedAt: null },
      {
        entityType: 'Template',
        scope: 'Platform',
        states: ['Draft', 'PendingReview', 'Published', 'Archived'],
      },
    ]);
  });

  it('of a tenant are saved as versions, each to be read again', async () => {
    const http = service.as(aCaller());
    const created = await http.put('/workflow/definitions/Order', orderDefinition());
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe('/api/v1/workflow/definitions/Order');
    expect(created.body).toMatchObject({
      entityType: 'Order',
      version: 1,
      scope: 'Tenant',
      states: ['Draft', 'Approved', 'Cancelled'],
      finalStates: ['Approved', 'Cancelled'],
    });

    const read = await http.get('/workflow/definitions/Order');
    expect(read.body).toEqual(created.body);
    const saved = await http.put('/workflow/definitions/Order', read.body);
    expect(saved.status).toBe(200);
    expect(saved.body.version).toBe(2);
    expect((await http.get('/workflow/definitions/Order?version=1')).body.version).toBe(1);
    expect((await http.get('/workflow/definitions/Order?version=3')).status).toBe(404);
    expect((await http.get('/workflow/definitions/Order?version=99999999999')).status).toBe(404);
    expect((await http.get('/workflow/definitions/Order?version=0')).status).toBe(400);
  });

  it('are drawn as a Mermaid diagram for whoever asks by format or Accept', async () => {
    const http = service.as(aCaller());
    const accepted = await http.get('/workflow/definitions/Invoice', {
      headers: { accept: 'text/vnd.mermaid' },
    });
    expect(accepted.headers.get('content-type')).toBe('text/vnd.mermaid');
    // The tag is that of the data: nobody takes the one for the other.
    expect(accepted.headers.get('etag')).toBeNull();
    expect(accepted.headers.get('vary')).toBe('Accept');
    expect((await http.get('/workflow/definitions/Invoice')).headers.get('vary')).toBe('Accept');
    expect(accepted.text).toMatch(/^stateDiagram-v2\n {2}state "Draft" as s0\n/);

    const asked = await http.get('/workflow/definitions/Invoice?format=mermaid');
    expect(asked.text).toBe(accepted.text);
    const plain = await http.get('/workflow/definitions/Invoice', { headers: { accept: 'text/plain' } });
    expect(plain.headers.get('content-type')).toBe('text/plain');
    expect(
      (await http.get('/workflow/definitions/Invoice', { headers: { accept: '*/*' } })).body,
    ).toBeDefined();
    expect((await http.get('/workflow/definitions/Invoice?format=svg')).status).toBe(400);
  });

  it('carry a tag that saves from lost updates, and 304 for who has them', async () => {
    const http = service.as(aCaller());
    const first = await http.put('/workflow/definitions/Order', orderDefinition());
    const tag = first.headers.get('etag')!;
    expect(tag).toMatch(/^"[^"]+"$/);
    const known = await http.get('/workflow/definitions/Order', { headers: { 'if-none-match': tag } });
    expect(known.status).toBe(304);

    const ifMatch = { headers: { 'if-match': tag } };
    expect((await http.put('/workflow/definitions/Order', orderDefinition(), ifMatch)).status).toBe(200);
    const stale = await http.put('/workflow/definitions/Order', orderDefinition(), ifMatch);
    expect(stale.status).toBe(409);
    expect(stale.body.type).toMatch(/\/problems\/stale-version$/);
    expect((await http.delete('/workflow/definitions/Order', ifMatch)).status).toBe(409);
  });

  it('that cannot work are refused with everything that is wrong', async () => {
    const answer = await service.as(aCaller()).put('/workflow/definitions/Order', {
      entityType: 'Offer',
      initialState: 'Draft',
      states: ['Draft', 'Sent', 'Lost'],
      finalStates: [],
      transitions: [{ name: 'Send', from: 'Draft', to: 'Sent', permission: 'No.Such.Permission' }],
    });

    expect(answer.status).toBe(422);
    expect(answer.headers.get('content-type')).toMatch('application/problem+json');
    expect(answer.body.type).toMatch(/\/problems\/workflow-definition-unsound$/);
    expect(answer.body.errors).toEqual({
      entityType: ['Service:Validation:ImmutableValidator'],
      'transitions[0].permission': ['Service:Validation:EnumValidator'],
      'states[1]': ['Service:Validation:FormatValidator'],
      'states[2]': ['Service:Validation:FormatValidator', 'Service:Validation:FormatValidator'],
    });
    expect(answer.body.faults).toEqual([
      'The address says "Order", the body "Offer".',
      '"Send" needs the permission "No.Such.Permission", which does not exist.',
      'The state "Sent" is a dead end and not a final state.',
      'The state "Lost" cannot be reached from "Draft".',
      'The state "Lost" is a dead end and not a final state.',
    ]);
  });

  it.each([
    [400, { initialState: 7, transitions: [] }],
    [422, { transitions: [] }],
    [422, { initialState: '', transitions: [] }],
    [422, { initialState: 'A', transitions: [{ name: 'Go', from: 'A', to: null }] }],
    [422, { initialState: 'A', transitions: [{ name: 'x'.repeat(101), from: 'A', to: 'B' }] }],
  ])('that are no definitions are refused with %i', async (status, body) => {
    expect((await service.as(aCaller()).put('/workflow/definitions/Order', body)).status).toBe(status);
  });

  it('may not take the addresses of this area', async () => {
    const answer = await service.as(aCaller()).put('/workflow/definitions/approvals', orderDefinition());
    expect(answer.body.errors).toEqual({ entityType: ['Service:Validation:FormatValidator'] });
  });

  it('may ask for permissions of a team’s own when the operator made them known', async () => {
    const own = await startWorkflow({ environment: { WORKFLOW_EXTRA_PERMISSIONS: 'Orders.Orders.Approve' } });
    const body = orderDefinition({ permission: 'Orders.Orders.Approve' });
    expect((await own.as(aCaller()).put('/workflow/definitions/Order', body)).status).toBe(201);
    expect((await service.as(aCaller()).put('/workflow/definitions/Order', body)).status).toBe(422);
    await own.close();
  });

  it('never leave entities behind in a state that is gone', async () => {
    const http = service.as(aCaller());
    await http.put('/workflow/definitions/Order', orderDefinition());
    await http.post('/workflow/Order/1/transition', { targetState: 'Cancelled' });
    await http.post('/workflow/Order/2/transition', { targetState: 'Approved' });
    const without = (...gone: string[]) => ({
      ...orderDefinition(),
      transitions: orderDefinition().transitions.filter(({ to }) => !gone.includes(to)),
    });

    const refused = await http.put('/workflow/definitions/Order', without('Cancelled'));
    expect(refused.status).toBe(409);
    expect(refused.body.type).toMatch(/\/problems\/workflow-definition-strands-entities$/);
    expect(refused.body.strandedStates).toEqual({ Cancelled: 1 });
    // An open request for approval counts for where it leads.
    expect((await http.put('/workflow/definitions/Order', without('Approved'))).body.strandedStates).toEqual({
      Approved: 1,
    });
    expect((await http.delete('/workflow/definitions/Order')).status).toBe(409);
    await http.post('/workflow/Order/2/transition', { targetState: 'Draft' });
    expect((await http.put('/workflow/definitions/Order', without('Approved'))).status).toBe(200);
  });

  it('without a state in use are refused for that, whatever else is wrong with them', async () => {
    const http = service.as(aCaller());
    await http.post('/workflow/Invoice/1/transition', { targetState: 'Submitted' });
    const { body } = await http.get('/workflow/definitions/Invoice');
    const answer = await http.put('/workflow/definitions/Invoice', {
      ...body,
      states: body.states.filter((state: string) => state !== 'Submitted'),
    });
    expect(answer.status).toBe(409);
    expect(answer.body.strandedStates).toEqual({ Submitted: 1 });
  });

  it('are never changed under an entity that moves at that moment', async () => {
    const http = service.as(aCaller());
    const states = {
      with: orderDefinition(),
      without: { ...orderDefinition(), transitions: [orderDefinition().transitions[0]] },
    };
    for (let round = 0; round < 15; round++) {
      const type = `Racing${round}`;
      await http.put(`/workflow/definitions/${type}`, states.with);
      const [moved, changed] = await Promise.all([
        http.post(`/workflow/${type}/1/transition`, { targetState: 'Cancelled' }),
        http.put(`/workflow/definitions/${type}`, states.without),
      ]);
      const isMoved = moved.body.outcome === 'Completed';
      expect(isMoved ? changed.status : 200).toBe(isMoved ? 409 : changed.status);
    }
  });

  it('of the platform apply to every tenant without its own, and are for the host tenant to save', async () => {
    const platform = service.as(host());
    const [plain, special] = [service.as(aCaller()), service.as(aCaller())];
    await special.put('/workflow/definitions/Ticket', orderDefinition());
    const saved = await platform.put('/workflow/definitions/Ticket', {
      initialState: 'New',
      transitions: [{ name: 'Close', from: 'New', to: 'Closed' }],
    });
    expect(saved.body).toMatchObject({ scope: 'Platform', version: 1 });

    expect((await plain.get('/workflow/Ticket/1/transitions')).body.currentState).toBe('New');
    expect((await special.get('/workflow/Ticket/1/transitions')).body.currentState).toBe('Draft');

    // The default governs the entities of all tenants without a definition of their own.
    await plain.post('/workflow/Ticket/1/transition', { targetState: 'Closed' });
    await special.post('/workflow/Ticket/1/transition', { targetState: 'Cancelled' });
    const refused = await platform.put('/workflow/definitions/Ticket', {
      initialState: 'New',
      transitions: [{ name: 'Drop', from: 'New', to: 'Dropped' }],
    });
    expect(refused.status).toBe(409);
    expect(refused.body.strandedStates).toEqual({ Closed: 1 });
  });

  it('of a tenant give way to the platform’s when they are withdrawn', async () => {
    const http = service.as(aCaller());
    await http.put('/workflow/definitions/Invoice', orderDefinition());
    expect((await http.get('/workflow/definitions/Invoice')).body.scope).toBe('Tenant');

    expect((await http.delete('/workflow/definitions/Invoice')).status).toBe(204);

    expect((await http.get('/workflow/definitions/Invoice')).body.scope).toBe('Platform');
    expect((await http.delete('/workflow/definitions/Invoice')).status).toBe(404);
    // A tag of a version that is gone fits no later one.
    expect((await http.put('/workflow/definitions/Invoice', orderDefinition())).body.version).toBe(3);
  });
});
