import { aCaller } from '@plinth/testing/http';
import { openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
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
});
