import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { startJourney, type Journey } from './platform';

const EDITOR = [
  'Templating.Templates.Read',
  'Templating.Templates.Manage',
  'Workflow.Transitions.Read',
  'Workflow.Transitions.Execute',
  'Workflow.History.Read',
  'Timeline.Entries.Read',
];

describe('a publication that requires approval', () => {
  let journey: Journey;
  beforeAll(async () => {
    journey = await startJourney();
  });

  it('takes two people, one who submits and one who publishes, and is recorded in history and timeline', async () => {
    const tenantId = newId();
    const as = async (sub: string, permissions: string[]) => {
      const token = await journey.tokenOf({ sub, name: sub, tenantId, roles: [], permissions });
      return (method: string, path: string, body?: unknown) =>
        journey.call(method, `/api/v1${path}`, { token, body });
    };
    const admin = await as('admin', ['Settings.Tenant.Manage']);
    const ann = await as('ann', [...EDITOR, 'Templating.Templates.Publish']);
    const bob = await as('bob', [...EDITOR, 'Templating.Templates.Publish']);
    const dee = await as('dee', EDITOR);
    const approval = await admin('PUT', '/settings/tenant/Service.Templates.ApprovalRequired', {
      value: 'true',
    });
    expect(approval.status).toBe(204);
    const template = { name: 'welcome', content: '<p>Hello {{ name }}</p>' };
    expect((await ann('POST', '/templates', template)).status).toBe(201);

    // A draft that was not reviewed cannot be published.
    expect((await ann('POST', '/templates/welcome/publish')).status).toBe(409);
    const submitted = await ann('POST', '/workflow/Template/welcome/transition', {
      targetState: 'PendingReview',
      comment: 'Please look',
    });
    expect(submitted.body).toEqual({
      succeeded: true,
      resultingState: 'PendingReview',
      outcome: 'Completed',
    });
    expect((await ann('GET', '/templates/welcome/lifecycle')).body).toMatchObject({
      currentStatus: 1,
      workflowEnabled: true,
    });

    // Neither the submitter nor a person without permission can publish it, in either way.
    expect((await ann('POST', '/templates/welcome/publish')).status).toBe(403);
    const publish = { targetState: 'Published' };
    expect((await ann('POST', '/workflow/Template/welcome/transition', publish)).body.outcome).toBe('Denied');
    expect((await dee('POST', '/workflow/Template/welcome/transition', publish)).body.outcome).toBe('Denied');

    expect((await bob('POST', '/templates/welcome/publish')).status).toBe(204);
    const status = await bob('GET', '/workflow/Template/welcome/transitions');
    expect(status.body.currentState).toBe('Published');

    const history = async () => (await dee('GET', '/workflow/Template/welcome/history')).body.items;
    await eventually(async () => (await history()).length === 2);
    expect(await history()).toMatchObject([
      { previousState: 'PendingReview', newState: 'Published', transitionedBy: 'bob' },
      { previousState: 'Draft', newState: 'PendingReview', transitionedBy: 'ann', comment: 'Please look' },
    ]);
    const timeline = async () => (await dee('GET', '/timeline/Template/welcome')).body.items;
    await eventually(async () => (await timeline()).length === 2);
    expect(await timeline()).toMatchObject([
      { entryType: 2, authorId: 'bob' },
      { entryType: 2, authorId: 'ann', body: expect.stringContaining('PendingReview') },
    ]);
  });

  it('can require a formal approval, which appears in the inbox of another person', async () => {
    const tenantId = newId();
    const client = async (sub: string) => {
      const token = await journey.tokenOf({ sub, name: sub, tenantId });
      return (method: string, path: string, body?: unknown) =>
        journey.call(method, `/api/v1${path}`, { token, body });
    };
    const [ann, bob] = [await client('ann'), await client('bob')];
    await ann('POST', '/workflow/Invoice/INV-1/transition', { targetState: 'Submitted' });
    const asked = await ann('POST', '/workflow/Invoice/INV-1/transition', { targetState: 'Approved' });
    expect(asked.body.outcome).toBe('ApprovalRequested');

    const inbox = await bob('GET', '/workflow/approvals');
    expect(inbox.body.items).toMatchObject([
      { entityType: 'Invoice', entityId: 'INV-1', requestedBy: 'ann' },
    ]);
    expect((await ann('GET', '/workflow/approvals')).body.items).toEqual([]);
    const given = await bob('POST', '/workflow/Invoice/INV-1/transition', { targetState: 'Approved' });
    expect(given.body).toEqual({ succeeded: true, resultingState: 'Approved', outcome: 'Completed' });
  });
});
