import { ContactStage } from '@plinth/contracts/contacts/shapes';
import { contactGone, contactMoved } from '@plinth/contracts/contacts/events';
import { contactWorkflowDefinition } from '@plinth/contracts/contacts/workflow-definition';
import { newId } from '@plinth/kernel/uuid';
import { protoPackages } from '@plinth/proto/packages';
import { serveGrpc, serviceClient } from '@plinth/runtime/rpc/grpc';
import { aCaller, TEST_KEYS } from '@plinth/testing/http';
import { grpcServices } from '../src/grpc/server';
import { aCompany, aContact, eventsOf, startContacts, type Contacts } from './start-contacts';

const connect = (port: number) =>
  serviceClient('contacts', protoPackages.workflow.v1.EntityOwner, `127.0.0.1:${port}`, TEST_KEYS);

describe('the stage of a contact', () => {
  let service: Contacts;
  let server: Awaited<ReturnType<typeof serveGrpc>>;
  let owner: ReturnType<typeof connect>;
  beforeAll(async () => {
    service = await startContacts();
    server = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, grpcServices(service));
    owner = connect(server.port);
  });
  afterAll(async () => {
    await owner.close();
    await server.close();
    await service.close();
  });

  const entity = (id: string) => ({ entityType: 'Contact', entityId: id });
  const aTransition = (id: string, parts: object = {}) => ({
    ...entity(id),
    from: 'Prospect',
    to: 'Active',
    moveId: newId(),
    comment: '',
    actorId: '',
    actorName: '',
    ...parts,
  });

  it('is one of the states of the workflow definition', () => {
    expect(contactWorkflowDefinition.states).toEqual(Object.values(ContactStage));
    expect(contactWorkflowDefinition.initialState).toBe('Prospect');
  });

  it('is that of one entity: another spelling of the id is the id of no contact', async () => {
    const caller = aCaller();
    const { id } = await aContact(service.as(caller), { email: 'ada@example.com' });
    const other = id.toUpperCase();

    expect(await owner.call('Describe', entity(other), caller)).toMatchObject({ exists: false });
    expect(await owner.call('Apply', aTransition(other), caller)).toMatchObject({ outcome: 'STATE_CHANGED' });
    expect(await owner.call('Describe', entity(id), caller)).toMatchObject({ state: 'Prospect' });
  });

  it('is changed once by a transition, however often it is applied, and published with its actor', async () => {
    const caller = aCaller();
    const { id } = await aContact(service.as(caller), { email: 'ada@example.com' });
    const transition = aTransition(id, { comment: 'Signed.', actorId: 'user-7', actorName: 'Grace' });

    const responses = await Promise.all([
      owner.call('Apply', transition, caller),
      owner.call('Apply', transition, caller),
    ]);

    for (const response of responses) expect(response).toMatchObject({ outcome: 'MOVED', state: 'Active' });
    const { body } = await service.as(caller).get(`/contacts/${id}`);
    expect(body).toMatchObject({ stage: 'Active', changedBy: 'user-7' });
    expect(await eventsOf(service, caller.tenantId, contactMoved)).toMatchObject([
      {
        actor_name: 'Grace',
        payload: {
          moveId: transition.moveId,
          previousState: 'Prospect',
          newState: 'Active',
          comment: 'Signed.',
        },
      },
    ]);
  });

  it('is part of the version of a contact, so that no stale change reverts a transition', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const contact = await aContact(http, { phone: '1' });
    const etag = (await http.get(`/contacts/${contact.id}`)).headers.get('etag')!;

    await owner.call('Apply', aTransition(contact.id), caller);

    const stale = await http.put(`/contacts/${contact.id}`, contact, { headers: { 'if-match': etag } });
    expect(stale.status).toBe(409);
    expect((await http.put(`/contacts/${contact.id}`, contact)).body.stage).toBe('Active');
  });

  it('is not changed by a transition from another stage', async () => {
    const caller = aCaller();
    const { id } = await aContact(service.as(caller), { phone: '1' });

    const response = await owner.call('Apply', aTransition(id, { from: 'Active', to: 'Archived' }), caller);

    expect(response).toMatchObject({ outcome: 'STATE_CHANGED', state: 'Prospect' });
  });

  it('is not changed by a transition that comes too late, and one that came in time is told of', async () => {
    const caller = aCaller();
    const { id } = await aContact(service.as(caller), { phone: '1' });
    const inMilliseconds = (more: number) => new Date(Date.now() + more).toISOString();
    const [past, future] = [inMilliseconds(-1_000), inMilliseconds(60_000)];
    const late = await owner.call('Apply', aTransition(id, { notAfter: past }), caller);
    expect(late).toMatchObject({ outcome: 'STATE_CHANGED', state: 'Prospect' });

    const transition = aTransition(id);
    for (const notAfter of [future, past])
      expect(await owner.call('Apply', { ...transition, notAfter }, caller)).toMatchObject({
        outcome: 'MOVED',
        state: 'Active',
      });
  });

  it('becomes Active only where the contact has an email or a phone number', async () => {
    const caller = aCaller();
    const { id } = await aContact(service.as(caller));

    const described = await owner.call('Describe', entity(id), caller);
    const refused = await owner.call('Apply', aTransition(id), caller);

    expect(described).toMatchObject({
      exists: true,
      state: 'Prospect',
      objections: [{ targetState: 'Active', concernsCaller: false }],
    });
    expect(refused).toMatchObject({ outcome: 'STATE_CHANGED', state: 'Prospect' });
    expect(refused.reason).toContain('email or a phone number');
  });

  it('is that of no contact any more once it is deleted, which workflow is told; it is told of no company', async () => {
    const { tenantId, ...caller } = aCaller();
    const http = service.as({ ...caller, tenantId });
    const { id } = await aContact(http);
    const company = await aCompany(http);

    expect((await http.delete(`/contacts/${id}`)).status).toBe(204);
    expect((await http.delete(`/companies/${company.id}`)).status).toBe(204);

    const gone = await eventsOf(service, tenantId, contactGone);
    expect(gone.map(({ payload }) => payload)).toEqual([{ entityType: 'Contact', entityIds: [id] }]);
  });

  it('is unknown for contacts that do not exist or belong to another tenant', async () => {
    const { id } = await aContact(service.as(aCaller()));

    for (const unknown of [id, newId(), 'no id at all']) {
      expect(await owner.call('Describe', entity(unknown), aCaller())).toMatchObject({ exists: false });
    }
    await expect(
      owner.call('Describe', { entityType: 'Company', entityId: id }, aCaller()),
    ).rejects.toMatchObject({ kind: 'malformed' });
  });
});
