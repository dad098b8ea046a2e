import { ContactStage } from '@plinth/contracts/contacts/shapes';
import { contactMoved } from '@plinth/contracts/contacts/events';
import { contactMachine } from '@plinth/contracts/contacts/machine';
import { newId } from '@plinth/kernel/uuid';
import { protoPackages } from '@plinth/proto/packages';
import { serveGrpc, sibling } from '@plinth/runtime/grpc';
import { aCaller, TEST_KEYS } from '@plinth/testing/http';
import { grpcServices } from '../src/grpc/server';
import { aContact, factsOf, startContacts, type Contacts } from './start-contacts';

const connect = (port: number) =>
  sibling('contacts', protoPackages.workflow.v1.EntityOwner, `127.0.0.1:${port}`, TEST_KEYS);

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
  const aMove = (id: string, parts: object = {}) => ({
    ...entity(id),
    from: 'Prospect',
    to: 'Active',
    moveId: newId(),
    comment: '',
    actorId: '',
    actorName: '',
    ...parts,
  });

  it('is what the definition for workflow knows, and nothing else', () => {
    expect(contactMachine.states).toEqual(Object.values(ContactStage));
    expect(contactMachine.initialState).toBe('Prospect');
  });

  it('is moved once by a move, however often that is asked for, and told in the name of who moved it', async () => {
    const caller = aCaller();
    const { id } = await aContact(service.as(caller), { email: 'ada@example.com' });
    const move = aMove(id, { comment: 'Signed.', actorId: 'user-7', actorName: 'Grace' });

    const answers = await Promise.all([owner.ask('Apply', move, caller), owner.ask('Apply', move, caller)]);

    for (const answer of answers) expect(answer).toMatchObject({ outcome: 'MOVED', state: 'Active' });
    const { body } = await service.as(caller).get(`/contacts/${id}`);
    expect(body).toMatchObject({ stage: 'Active', changedBy: 'user-7' });
    expect(await factsOf(service, caller.tenantId, contactMoved)).toMatchObject([
      {
        actor_name: 'Grace',
        payload: { moveId: move.moveId, previousState: 'Prospect', newState: 'Active', comment: 'Signed.' },
      },
    ]);
  });

  it('gives a changed contact a new version, so that no stale change undoes the move', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const contact = await aContact(http, { phone: '1' });
    const etag = (await http.get(`/contacts/${contact.id}`)).headers.get('etag')!;

    await owner.ask('Apply', aMove(contact.id), caller);

    const stale = await http.put(`/contacts/${contact.id}`, contact, { headers: { 'if-match': etag } });
    expect(stale.status).toBe(409);
    expect((await http.put(`/contacts/${contact.id}`, contact)).body.stage).toBe('Active');
  });

  it('is not left by a move from elsewhere', async () => {
    const caller = aCaller();
    const { id } = await aContact(service.as(caller), { phone: '1' });

    const answer = await owner.ask('Apply', aMove(id, { from: 'Active', to: 'Archived' }), caller);

    expect(answer).toMatchObject({ outcome: 'STATE_CHANGED', state: 'Prospect' });
  });

  it('becomes active only where there is a way to reach the contact', async () => {
    const caller = aCaller();
    const { id } = await aContact(service.as(caller));

    const seen = await owner.ask('Describe', entity(id), caller);
    const refused = await owner.ask('Apply', aMove(id), caller);

    expect(seen).toMatchObject({
      exists: true,
      state: 'Prospect',
      objections: [{ targetState: 'Active', concernsCaller: false }],
    });
    expect(refused).toMatchObject({ outcome: 'STATE_CHANGED', state: 'Prospect' });
    expect(refused.reason).toContain('email or a phone number');
  });

  it('is unknown of what is not there, or not theirs', async () => {
    const { id } = await aContact(service.as(aCaller()));

    for (const unknown of [id, newId(), 'no id at all']) {
      expect(await owner.ask('Describe', entity(unknown), aCaller())).toMatchObject({ exists: false });
    }
    await expect(
      owner.ask('Describe', { entityType: 'Company', entityId: id }, aCaller()),
    ).rejects.toMatchObject({ kind: 'malformed' });
  });
});
