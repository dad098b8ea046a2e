import { aCaller } from '@plinth/testing/http';
import { openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
import { excessiveOf, readsUnderAllPlans } from '@plinth/testing/statement-plans';
import { newId } from '@plinth/kernel/uuid';
import type { Client } from 'pg';
import { grpcServices } from '../src/grpc/server';
import { startWorkflow, type Workflow } from './start-workflow';

describe('the export Workflow.History', () => {
  let service: Workflow;
  let owner: ExchangeOwner;
  beforeAll(async () => {
    service = await startWorkflow();
    owner = await openExchangeOwner(grpcServices(service));
  });
  afterAll(async () => {
    await owner.close();
    await service.close();
  });

  const definition = 'Workflow.History';

  it('contains the moves of all entities of the tenant, and of no other', async () => {
    const caller = aCaller({ userId: 'ann', userName: 'Ann' });
    const http = service.as(caller);
    await http.post('/workflow/Invoice/1/transition', { targetState: 'Submitted', comment: '=1+1' });
    await http.post('/workflow/Invoice/2/transition', { targetState: 'Cancelled' });
    await service.as(aCaller()).post('/workflow/Invoice/3/transition', { targetState: 'Cancelled' });

    const fields = [
      'entityId',
      'position',
      'previousState',
      'newState',
      'transitionedBy',
      'transitionedByName',
      'comment',
    ];
    expect(await owner.exportRows(caller, { definition, fields })).toEqual([
      ['1', '1', 'Draft', 'Submitted', 'ann', 'Ann', '=1+1'],
      ['2', '1', 'Draft', 'Cancelled', 'ann', 'Ann', null],
    ]);
  });

  it('supports filters, search and another order', async () => {
    const caller = aCaller();
    for (const [id, targetState] of [
      ['a', 'Submitted'],
      ['b', 'Cancelled'],
      ['c', 'Submitted'],
    ])
      await service.as(caller).post(`/workflow/Invoice/${id}/transition`, { targetState });

    const select = (selection: object) =>
      owner.exportRows(caller, { definition, fields: ['entityId'], selection });
    expect(await select({ filter: { 'newState.eq': 'Submitted' }, sort: '-entityId' })).toEqual([
      ['c'],
      ['a'],
    ]);
    expect(await select({ search: 'B' })).toEqual([['b']]);
  });

  it('needs the permission to read the history', async () => {
    const caller = aCaller({ permissions: ['DataExchange.Exports.Execute'] });
    await expect(owner.exportRows(caller, { definition, fields: ['entityId'] })).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });

  it('of a small tenant reads no more moves than that tenant has, whatever the statistics know', async () => {
    const MOVES_OF_SMALL_TENANT = 10;
    const [large, small] = [newId(), aCaller()];
    const insertMoves = async (admin: Client, tenantId: string, count: number) => {
      for (const insert of [
        `entity (tenant_id, entity_type, entity_id, state, revision, moves, changed_at)
           SELECT $1, 'Invoice', n::text, 'Submitted', 1, 1, now()`,
        `move (tenant_id, entity_type, entity_id, position, id, transition_name, previous_state, new_state,
           transitioned_at, transitioned_by, transitioned_by_name)
           SELECT $1, 'Invoice', n::text, 1, gen_random_uuid(), 'Submit', 'Draft', 'Submitted', now(), 'ada', 'Ada'`,
      ])
        await admin.query(`INSERT INTO ${insert} FROM generate_series(1, $2::int) AS n`, [tenantId, count]);
    };
    const fill = async (admin: Client, tenantId: string, count: number) => {
      await insertMoves(admin, tenantId, count);
      if (tenantId === large) await insertMoves(admin, small.tenantId, MOVES_OF_SMALL_TENANT);
    };
    const database = { url: service.databaseUrl, adminUrl: service.database!.adminUrl };

    const reads = await readsUnderAllPlans(
      { ...database, fill },
      { id: large, rowCount: 5_000 },
      async (bulkPool) => {
        const exporter = await openExchangeOwner(grpcServices({ ...service, bulkPool }));
        const rows = await exporter.exportRows(small, { definition, fields: ['entityId', 'newState'] });
        expect(rows).toHaveLength(MOVES_OF_SMALL_TENANT);
        await exporter.close();
      },
    );

    expect(excessiveOf(reads, MOVES_OF_SMALL_TENANT)).toEqual([]);
  });
});
