import type { ExchangeDefinition } from '@plinth/exchange/definition';
import { holds, type Caller } from '@plinth/kernel/caller';
import { aCaller } from '@plinth/testing/http';
import { articles } from './a-shop';
import {
  importFile,
  mappedImport,
  reportOf,
  startDataExchange,
  type DataExchange,
} from './start-data-exchange';

const definitionName = 'Shop.Stacks';
const wider = 'Timeline.InternalNotes.Read';
const permissions = ['DataExchange.Imports.Read', 'DataExchange.Imports.Execute', articles.permission];

/** Books are for the staff; all others see the rest. */
const stacks = {
  ...articles,
  name: definitionName,
  visibleTo: (caller) => (holds(caller, wider) ? undefined : `t.kind <> 'book'`),
  widerPermission: wider,
} satisfies ExchangeDefinition;

const file = 'code,title,kind,stock\nA,Apple,Food,1\nB,Poems,Book,many\n';
const mappings = { mappings: [{ sourceColumn: 'kind', targetProperty: 'title' }] };

const beforeExecution = [
  ['POST', 'preview'],
  ['GET', 'format'],
  ['PUT', 'format', { delimiter: ';' }],
  ['GET', 'draft-mappings'],
  ['PUT', 'draft-mappings', mappings],
  ['PUT', 'mappings', mappings],
  ['POST', 'dry-run'],
  ['POST', 'execute'],
] as const;
const afterEnd = [
  ['GET', 'events'],
  ['GET', 'report'],
  ['GET', 'correction-file'],
  ['POST', 'undo'],
] as const;
const ofUndo = [
  ['GET', 'undo'],
  ['GET', 'undo/events'],
] as const;

describe('the upload of somebody who sees more rows than others', () => {
  let exchange: DataExchange;
  beforeAll(async () => {
    exchange = await startDataExchange({ definitions: [stacks] });
  });
  afterAll(() => exchange.close());

  const staffAndGuest = () => {
    const staff = aCaller({ permissions: [...permissions, wider] });
    return { staff, guest: { ...staff, userId: 'somebody-else', permissions } };
  };
  const statusOf = async (
    caller: Caller,
    jobId: string,
    [method, path, body]: readonly [string, string, object?],
  ) => (await exchange.as(caller).send(method, `/imports/${jobId}/${path}`, { body })).status;
  const statusesOf = (
    caller: Caller,
    jobId: string,
    steps: readonly (readonly [string, string, object?])[],
  ) => Promise.all(steps.map((step) => statusOf(caller, jobId, step)));

  it('is neither shown nor mapped, tried, imported or undone for those who do not see them', async () => {
    const { staff, guest } = staffAndGuest();
    const jobId = await mappedImport(exchange, staff, file, undefined, { definitionName });
    const refused = (steps: readonly unknown[]) => steps.map(() => 403);

    expect(await statusesOf(guest, jobId, beforeExecution)).toEqual(refused(beforeExecution));
    expect(await statusOf(staff, jobId, ['POST', 'execute'])).toBe(202);
    expect(await reportOf(exchange, staff, jobId)).toMatchObject({ insertedRows: 1, failedRows: 1 });
    expect(await statusesOf(guest, jobId, afterEnd)).toEqual(refused(afterEnd));
    expect(await statusOf(staff, jobId, ['POST', 'undo'])).toBe(202);
    expect(await statusesOf(guest, jobId, ofUndo)).toEqual(refused(ofUndo));
    expect((await exchange.as(guest).get(`/imports/${jobId}`)).status).toBe(200);
  });

  it('can be cancelled by those who do not see them', async () => {
    const { staff, guest } = staffAndGuest();
    const jobId = await mappedImport(exchange, staff, file, undefined, { definitionName });

    expect((await exchange.as(guest).delete(`/imports/${jobId}`)).status).toBe(204);
  });

  it('is none where it is by somebody who does not see them either: colleagues go on with it', async () => {
    const { staff, guest } = staffAndGuest();
    const jobId = await mappedImport(exchange, guest, file, undefined, { definitionName });

    expect(await statusOf(staff, jobId, ['POST', 'preview'])).toBe(200);
    expect(await statusOf({ ...guest, userId: 'a-colleague' }, jobId, ['POST', 'preview'])).toBe(200);
    const { report } = await importFile(exchange, guest, file, undefined, { definitionName });
    expect(report).toMatchObject({ totalRows: 2 });
  });
});
