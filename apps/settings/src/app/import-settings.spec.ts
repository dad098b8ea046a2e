import type { BatchContext, ImportRow } from '@plinth/exchange/definition';
import { newId } from '@plinth/kernel/uuid';
import { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { platformDefinitions } from '../domain/platform-definitions';
import { importSettings } from './import-settings';

/** A transaction of a database in which nothing is set; `locks` are the names that were locked. */
function aTransaction() {
  const locks: unknown[] = [];
  const execute = async (statement: string, _definition: unknown, name: unknown) => {
    if (statement.includes('pg_advisory_xact_lock')) locks.push(name);
    return 0;
  };
  const context = {
    caller: { tenantId: newId(), userId: 'ada', userName: 'Ada', permissions: ['*'] },
    connection: { query: async () => ({ rows: [] }) },
    tx: { $executeRawUnsafe: execute, $queryRawUnsafe: async () => [] },
  };
  return { context: context as unknown as BatchContext, locks };
}

const sealing = { box: { seal: (text: string) => text }, valueChecks: new EventLoopTurns() };

const rowOf = (name: string, rowNumber: number): ImportRow => ({
  rowNumber,
  values: { name, scope: 'tenant', userId: '', value: 'dark' },
});

describe('an import of settings', () => {
  it('locks those that are defined, and no name that its file makes up', async () => {
    const definitions = new Map(platformDefinitions.map((definition) => [definition.name, definition]));
    const parts = { definitions: { all: async () => definitions }, ...sealing };
    const { context, locks } = aTransaction();
    const names = [
      'Service.Console.Theme',
      ...Array.from({ length: 4_000 }, (_, index) => `Made.Up.${index}`),
    ];

    const errors = await importSettings(parts).check(names.map(rowOf), context);

    expect(errors).toHaveLength(4_000);
    expect(locks).toEqual([`${context.caller.tenantId}/Service.Console.Theme`]);
  });

  it('is checked in several turns of the event loop', async () => {
    const definitions = new Map(platformDefinitions.map((definition) => [definition.name, definition]));
    const parts = { definitions: { all: async () => definitions }, ...sealing };
    const rows = Array.from({ length: 4_000 }, (_, index) => rowOf('Made.Up', index + 2));
    let turns = 0;
    const count = () => void (turns++, (next = setImmediate(count)));
    let next = setImmediate(count);

    await importSettings(parts).check(rows, aTransaction().context);

    clearImmediate(next);
    expect(turns).toBeGreaterThan(10);
  });
});
