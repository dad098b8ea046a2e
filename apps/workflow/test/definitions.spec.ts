import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { behindLock } from '@plinth/testing/behind-a-lock';
import { eventually } from '@plinth/testing/eventually';
import { Client } from 'pg';
import { definitionLockKeys } from '../src/store/definition-versions';
import {
  beginningOfOpenTransactions,
  countStatesEnteredSince,
  countStatesInUse,
  isCountedSince,
} from '../src/store/states-in-use';
import { orderDefinition } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';

const host = () => aCaller({ tenantId: HOST_TENANT_ID });

describe('workflow definitions', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow();
  });
  afterAll(() => service.close());

  it('are built in for templates, for entities that services own and, as a sample, for invoices', async () => {
    const { body, headers } = await service.as(aCaller()).get('/workflow/definitions');
    // A list of two megabytes would keep everybody else in the process waiting, were it written at once.
    expect(headers.get('content-encoding')).toBe('gzip');
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

  it('of a tenant are saved as versions that can each be read again', async () => {
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

  it('are saved and withdrawn once per operation', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const retried = service.as({ ...caller, operationId: newId() });
    const saving = () => retried.put('/workflow/definitions/Order', orderDefinition());
    const first = await saving();
    await http.put('/workflow/definitions/Order', orderDefinition());

    expect(await saving()).toMatchObject({ status: first.status, body: first.body });
    expect((await http.get('/workflow/definitions/Order')).body.version).toBe(2);

    const withdrawing = service.as({ ...caller, operationId: newId() });
    const withdrawals = [1, 2].map(() => withdrawing.delete('/workflow/definitions/Order'));
    expect((await Promise.all(withdrawals)).map(({ status }) => status)).toEqual([204, 204]);
    expect((await http.delete('/workflow/definitions/Order')).status).toBe(404);
  });

  it('are those of two hundred types at most, however many are saved at once', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const { tenantId } = caller;
    await http.put('/workflow/definitions/Order', orderDefinition());
    await service.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
      INSERT INTO definition (tenant_id, entity_type, version, body, saved_at, saved_by)
      SELECT tenant_id, 'Type' || number, version, body, saved_at, saved_by
      FROM definition, generate_series(1, 197) AS number WHERE tenant_id = ${tenantId}::uuid`,
    );
    const save = (entityType: string) =>
      http.put(`/workflow/definitions/${entityType}`, { ...orderDefinition(), entityType });

    const racing = await Promise.all(Array.from({ length: 6 }, (_, index) => save(`Last${index}`)));

    expect(racing.map(({ status }) => status).sort()).toEqual([201, 201, 429, 429, 429, 429]);
    expect(racing.find(({ status }) => status === 429)?.body).toMatchObject({
      quota: { name: 'workflow-definitions', limit: 200, used: 200 },
    });
    expect((await http.put('/workflow/definitions/Order', orderDefinition())).status).toBe(200);
  });

  it('count no more once they are withdrawn, and those withdrawn long before are not kept', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const { tenantId } = caller;
    await http.put('/workflow/definitions/Order', orderDefinition());
    await service.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
      INSERT INTO definition (tenant_id, entity_type, version, body, saved_at, saved_by)
      SELECT tenant_id, 'Type' || number, version + added, CASE WHEN added = 0 THEN body END,
             saved_at - number * interval '1 minute', saved_by
      FROM definition, generate_series(1, 200) AS number, generate_series(0, 1) AS added
      WHERE tenant_id = ${tenantId}::uuid`,
    );
    const next = { ...orderDefinition(), entityType: 'Parcel' };
    expect((await http.put('/workflow/definitions/Parcel', next)).status).toBe(201);
    const kept = () =>
      service.db.inTenant(tenantId, async (tx) => {
        const types = { by: ['entityType'] as ['entityType'], where: { tenantId } };
        return (await tx.definition.groupBy(types)).map(({ entityType }) => entityType);
      });
    expect(await kept()).toHaveLength(202);

    expect((await http.delete('/workflow/definitions/Parcel')).status).toBe(204);
    expect(await kept()).toHaveLength(201);
    expect(await kept()).not.toContain('Type200');
  });

  it('are two mebibytes in one list at most, and earlier versions are not in it', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const { tenantId } = caller;
    for (const status of [201, 200])
      expect((await http.put('/workflow/definitions/Order', orderDefinition())).status).toBe(status);
    await service.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
      INSERT INTO definition (tenant_id, entity_type, version, body, saved_at, saved_by)
      SELECT tenant_id, 'Type' || number, version, body || jsonb_build_object('entityType', 'Type' || number, 'filler', repeat('x', 262144)), saved_at, saved_by
      FROM definition, generate_series(1, 8) AS number WHERE tenant_id = ${tenantId}::uuid AND version = 2`,
    );

    const refused = await http.put('/workflow/definitions/Invoice', orderDefinition());

    expect([refused.status, refused.body.quota?.name]).toEqual([429, 'workflow-definition-bytes']);
    const { body } = await http.get('/workflow/definitions');
    expect(body.filter(({ entityType }: { entityType: string }) => entityType === 'Order')).toMatchObject([
      { version: 2, scope: 'Tenant' },
    ]);
  });

  it('keep the newest five hundred versions of a tenant', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const { tenantId } = caller;
    await http.put('/workflow/definitions/Order', orderDefinition());
    await service.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
      INSERT INTO definition (tenant_id, entity_type, version, body, saved_at, saved_by)
      SELECT tenant_id, entity_type, version + added, body, saved_at, saved_by
      FROM definition, generate_series(1, 505) AS added WHERE tenant_id = ${tenantId}::uuid`,
    );

    expect((await http.put('/workflow/definitions/Order', orderDefinition())).body.version).toBe(507);

    expect((await http.get('/workflow/definitions/Order?version=7')).status).toBe(404);
    expect((await http.get('/workflow/definitions/Order?version=8')).body.version).toBe(8);
  });

  it('are checked without being saved', async () => {
    const http = service.as(aCaller());
    const sound = await http.post('/workflow/definitions/Order/validate', orderDefinition());
    const unsound = await http.post('/workflow/definitions/Order/validate', {
      ...orderDefinition(),
      initialState: 'Nowhere',
    });

    expect(sound.body).toEqual({ isSound: true, errors: [] });
    expect(unsound.body.isSound).toBe(false);
    expect(unsound.body.errors).toContainEqual({
      path: 'states[1]',
      rule: 'Format',
      message: 'The state "Draft" cannot be reached from "Nowhere".',
    });
    expect((await http.get('/workflow/definitions/Order')).status).toBe(404);
  });

  it('are returned as a Mermaid diagram on request by `format` or `Accept`', async () => {
    const http = service.as(aCaller());
    const accepted = await http.get('/workflow/definitions/Invoice', {
      headers: { accept: 'text/vnd.mermaid' },
    });
    expect(accepted.headers.get('content-type')).toBe('text/vnd.mermaid');
    // The entity tag belongs to the data, so that no cache confuses the two.
    expect(accepted.headers.get('etag')).toBeNull();
    expect(accepted.headers.get('vary')).toBe('Accept');
    expect((await http.get('/workflow/definitions/Invoice')).headers.get('vary')).toBe('Accept');
    expect(accepted.text).toMatch(/^stateDiagram-v2\n {2}state "Draft" as s0\n/);

    const formatted = await http.get('/workflow/definitions/Invoice?format=mermaid');
    expect(formatted.text).toBe(accepted.text);
    const plain = await http.get('/workflow/definitions/Invoice', { headers: { accept: 'text/plain' } });
    expect(plain.headers.get('content-type')).toBe('text/plain');
    expect(
      (await http.get('/workflow/definitions/Invoice', { headers: { accept: '*/*' } })).body,
    ).toBeDefined();
    expect((await http.get('/workflow/definitions/Invoice?format=svg')).status).toBe(400);
  });

  it('carry an entity tag that prevents lost updates and repeated downloads', async () => {
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

  it('that are only to be created take the place of none, also where two people begin one at the same time', async () => {
    const http = service.as(aCaller());
    const onlyCreate = { headers: { 'if-none-match': '*' } };
    const drawn = Array.from({ length: 4 }, () =>
      http.put('/workflow/definitions/Order', orderDefinition(), onlyCreate),
    );
    const statuses = (await Promise.all(drawn)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 409, 409, 409]);

    const late = await http.put('/workflow/definitions/Order', orderDefinition(), onlyCreate);
    expect([late.status, late.body.type]).toEqual([409, expect.stringMatching(/\/problems\/stale-version$/)]);
    expect((await http.get('/workflow/definitions/Order')).body.version).toBe(1);
    // The platform's default is one that applies already.
    expect((await http.put('/workflow/definitions/Invoice', orderDefinition(), onlyCreate)).status).toBe(409);
  });

  it('that cannot work are refused with all of their errors', async () => {
    const response = await service.as(aCaller()).put('/workflow/definitions/Order', {
      entityType: 'Offer',
      initialState: 'Draft',
      states: ['Draft', 'Sent', 'Lost'],
      finalStates: [],
      transitions: [{ name: 'Send', from: 'Draft', to: 'Sent', permission: 'No.Such.Permission' }],
    });

    expect(response.status).toBe(422);
    expect(response.headers.get('content-type')).toMatch('application/problem+json');
    expect(response.body.type).toMatch(/\/problems\/workflow-definition-unsound$/);
    expect(response.body.errors).toEqual({
      entityType: ['Service:Validation:ImmutableValidator'],
      'transitions[0].permission': ['Service:Validation:EnumValidator'],
      'states[1]': ['Service:Validation:FormatValidator'],
      'states[2]': ['Service:Validation:FormatValidator', 'Service:Validation:FormatValidator'],
    });
    expect(response.body.faults).toEqual([
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
  ])('that are malformed are refused with %i', async (status, body) => {
    expect((await service.as(aCaller()).put('/workflow/definitions/Order', body)).status).toBe(status);
  });

  it.each(['definitions', 'approvals', 'delegations', 'transitions'])(
    'may not use the entity type %j, which is a path of the workflow service',
    async (type) => {
      const response = await service.as(aCaller()).put(`/workflow/definitions/${type}`, orderDefinition());
      expect(response.status).toBe(422);
      expect(response.body.errors).toEqual({ entityType: ['Service:Validation:FormatValidator'] });
    },
  );

  it('may use an entity type in any letters, with blanks, of up to 100 characters', async () => {
    const http = service.as(aCaller());
    for (const type of ['Pièce comptable', '4711', 'a/b?#%', '請求書', '𝕏'.repeat(100)]) {
      const path = `/workflow/definitions/${encodeURIComponent(type)}`;
      const saved = await http.put(path, { ...orderDefinition(), entityType: type });
      expect([saved.status, saved.body.entityType]).toEqual([201, type]);
      expect(saved.headers.get('location')).toBe(`/api/v1${path}`);
      expect((await http.get(path)).body).toEqual(saved.body);
      const picture = await http.get(`${path}?format=mermaid`);
      expect([picture.status, picture.text.split('\n')[0]]).toEqual([200, 'stateDiagram-v2']);
      const entity = `/workflow/${encodeURIComponent(type)}/1`;
      const moved = await http.post(`${entity}/transition`, { targetState: 'Cancelled' });
      expect(moved.body.outcome).toBe('Completed');
      expect((await http.get(`${entity}/history`)).body.totalCount).toBe(1);
    }
  });

  it('are found under both spellings of the same characters', async () => {
    const http = service.as(aCaller());
    const decomposed = `/workflow/definitions/${encodeURIComponent('Pie\u0300ce')}`;
    const saved = await http.put(decomposed, { ...orderDefinition(), entityType: 'Pie\u0300ce' });
    expect(saved.body.entityType).toBe('Pi\u00e8ce');
    expect((await http.get(`/workflow/${encodeURIComponent('Pi\u00e8ce')}/1/transitions`)).status).toBe(200);
  });

  it.each(['a\0b', 'a\nb', 'a\u007fb', 'a\u0085b', ' ', '𝕏'.repeat(101)])(
    'are refused for the entity type %j in a path',
    async (type) => {
      const http = service.as(aCaller());
      const name = encodeURIComponent(type);
      expect((await http.put(`/workflow/definitions/${name}`, orderDefinition())).status).toBe(400);
      expect((await http.get(`/workflow/${name}/1/transitions`)).status).toBe(400);
    },
  );

  it('may need further permissions that the operator configured', async () => {
    const own = await startWorkflow({ environment: { WORKFLOW_EXTRA_PERMISSIONS: 'Orders.Orders.Approve' } });
    const body = orderDefinition({ permission: 'Orders.Orders.Approve' });
    expect((await own.as(aCaller()).put('/workflow/definitions/Order', body)).status).toBe(201);
    expect((await service.as(aCaller()).put('/workflow/definitions/Order', body)).status).toBe(422);
    await own.close();
  });

  it('are refused when they lack a state that entities are in', async () => {
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

  it('that lose states have entities counted for two of a tenant at a time, others beside them, and those refused anyhow not', async () => {
    const [http, other] = [service.as(aCaller()), service.as(aCaller())];
    const path = '/workflow/definitions/Order';
    const losing = { ...orderDefinition(), transitions: [orderDefinition().transitions[0]] };
    for (const one of [http, other]) await one.put(path, orderDefinition());
    const { definitionCountings: places } = service;
    const held = new Client({ connectionString: service.database!.adminUrl });
    await held.connect();
    try {
      await held.query('BEGIN; LOCK TABLE entity');
      const counting = Array.from({ length: 6 }, () => http.put(path, losing));
      await eventually(() => places.waitingCount === 4);
      expect(places.runningCount).toBe(2);
      counting.push(other.put(path, losing));
      await eventually(() => places.runningCount === 3);

      const stale = await other.put(path, losing, { headers: { 'if-match': '"no"' } });
      expect([stale.status, stale.body.type]).toEqual([409, expect.stringMatching(/stale-version$/)]);
      expect((await http.put(path, orderDefinition())).status).toBe(200);

      await held.query('ROLLBACK');
      expect((await Promise.all(counting)).map(({ status }) => status)).toEqual(counting.map(() => 200));
    } finally {
      await held.end();
    }
  });

  it('without a state in use are refused for that before their other errors', async () => {
    const http = service.as(aCaller());
    await http.post('/workflow/Invoice/1/transition', { targetState: 'Submitted' });
    const { body } = await http.get('/workflow/definitions/Invoice');
    const response = await http.put('/workflow/definitions/Invoice', {
      ...body,
      states: body.states.filter((state: string) => state !== 'Submitted'),
    });
    expect(response.status).toBe(409);
    expect(response.body.strandedStates).toEqual({ Submitted: 1 });
  });

  it('are never changed while an entity of their type moves', async () => {
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

  it('of the platform apply to every tenant without its own, and are saved by the host tenant', async () => {
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

  it('of the platform keep nobody waiting where they strand entities or wait themselves, and count none where they lose no state', async () => {
    const platform = service.as(host());
    const plain = service.as(aCaller());
    const entityType = 'Parcel';
    const transitions = [{ name: 'Send', from: 'New', to: 'Sent' }];
    await platform.put(`/workflow/definitions/${entityType}`, { initialState: 'New', transitions });
    await plain.post(`/workflow/${entityType}/1/transition`, { targetState: 'Sent' });
    const held = new Client({ connectionString: service.database!.adminUrl });
    await held.connect();
    try {
      const [key] = definitionLockKeys(HOST_TENANT_ID, entityType);
      await held.query('BEGIN');
      await held.query('SELECT pg_advisory_xact_lock_shared($1::bigint)', [key]);
      const refused = await platform.put(`/workflow/definitions/${entityType}`, {
        initialState: 'New',
        transitions: [{ name: 'Drop', from: 'New', to: 'Dropped' }],
      });
      expect(refused.body.strandedStates).toEqual({ Sent: 1 });

      const waiting = await platform.put(`/workflow/definitions/${entityType}`, {
        initialState: 'New',
        transitions: [...transitions, { name: 'Stop', from: 'New', to: 'Stopped' }],
      });
      expect([waiting.status, waiting.headers.has('retry-after')]).toEqual([503, true]);
      // It ended before a statement that takes too long would.
      expect(waiting.body.detail).toBe('The database is busy or restarting; try again.');

      await held.query('ROLLBACK; BEGIN; LOCK TABLE entity');
      const saved = await platform.put(`/workflow/definitions/${entityType}`, {
        initialState: 'New',
        transitions: [...transitions, { name: 'Drop', from: 'New', to: 'Dropped' }],
      });
      expect(saved.status).toBe(200);
    } finally {
      await held.end();
    }
  });

  it('of the platform are refused for an entity whose move was open while entities were counted', async () => {
    const platform = service.as(host());
    const { tenantId } = aCaller();
    const entityType = 'Cargo';
    const save = (to: string) =>
      platform.put(`/workflow/definitions/${entityType}`, {
        initialState: 'New',
        transitions: [{ name: 'Move', from: 'New', to }],
      });
    await save('Sent');
    const [key] = definitionLockKeys(HOST_TENANT_ID, entityType);
    const moving = [
      { text: 'SELECT pg_advisory_xact_lock_shared($1::bigint)', values: [key] },
      {
        text: `INSERT INTO entity (tenant_id, entity_type, entity_id, state, revision, moves, changed_at)
               VALUES ($1, $2, '1', 'Sent', 1, 1, now())`,
        values: [tenantId, entityType],
      },
      {
        text: `INSERT INTO outbox (tenant_id, id, name, subject, payload, occurred_at)
               VALUES ($1, gen_random_uuid(), 'workflow.transition-executed', $2 || '/1',
                 jsonb_build_object('entityType', $2, 'entityId', '1'), clock_timestamp())`,
        values: [tenantId, entityType],
      },
    ];
    const [refused] = await behindLock(service.database!.adminUrl, moving, async () => {
      // Again, where the move took longer than the platform waits for.
      let response = await save('Dropped');
      while (response.status === 503) response = await save('Dropped');
      return response;
    });
    expect([refused!.status, refused!.body.strandedStates]).toEqual([409, { Sent: 1 }]);
  });

  it('keep moves waiting for no more entities than changed meanwhile', async () => {
    const { tenantId } = aCaller();
    const [entityType, states] = ['Crate', ['Sent']];
    const governed = { tenantId: HOST_TENANT_ID, entityType, states };
    const admin = new Client({ connectionString: service.database!.adminUrl });
    await admin.connect();
    await admin.query(
      `INSERT INTO entity (tenant_id, entity_type, entity_id, state, revision, moves, changed_at)
       SELECT $1, $2, n::text, 'New', 1, 1, now() FROM generate_series(1, 1000) AS n`,
      [tenantId, entityType],
    );
    await admin.end();
    await service.db.inTenant(HOST_TENANT_ID, async (tx) => {
      const rowsRead = async () => {
        const [row] = await tx.$queryRawUnsafe<[{ rows: number }]>(
          `SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS rows
           FROM pg_stat_xact_user_tables WHERE relname = 'entity'`,
        );
        return row.rows;
      };
      const since = await beginningOfOpenTransactions(tx);
      const before = await rowsRead();
      expect(await countStatesInUse(tx, governed)).toEqual(new Map());
      expect((await rowsRead()) - before).toBeGreaterThanOrEqual(1_000);
      const counted = await rowsRead();
      expect(await isCountedSince(tx, HOST_TENANT_ID, entityType, since)).toBe(true);
      expect(await countStatesEnteredSince(tx, governed, since)).toEqual(new Map());
      expect((await rowsRead()) - counted).toBeLessThan(100);
    });
  });

  it('of a tenant are replaced by the platform’s when they are withdrawn', async () => {
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
