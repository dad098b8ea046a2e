import { newId } from '@plinth/kernel/uuid';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import { aCaller } from '@plinth/testing/http';
import { readEntity } from '../src/store/entity-statements';
import { KnownDefinitions } from '../src/store/known-definitions';
import { orderDefinition } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';

describe('the reading of an entity', () => {
  let workflow: Workflow;
  beforeAll(async () => {
    workflow = await startWorkflow();
  });
  afterAll(() => workflow.close());

  it('reads a version of its definition once, and the next one when there is one', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    const admin = workflow.as(caller);
    const known = new KnownDefinitions();
    /** What came from the database of the definition, and what a decision sees. */
    const read = () =>
      workflow.db.inTenant(tenantId, async (tx) => {
        let bodies: unknown[] = [];
        const watched = {
          $queryRawUnsafe: async (text: string, ...values: unknown[]) => {
            const rows = await tx.$queryRawUnsafe<{ definitions: { body: unknown }[] | null }[]>(
              text,
              ...values,
            );
            bodies = (rows[0]!.definitions ?? []).map(({ body }) => body);
            return rows;
          },
        } as unknown as RawStatements;
        const key = { tenantId, entityType: 'Order', entityId: newId() };
        const { snapshot } = await readEntity(watched, key, { userId: 'ada', now: new Date() }, known);
        const transitions = snapshot.definition?.definition.transitions.map(({ name }) => name);
        return { bodies: bodies.map((body) => body !== null), transitions };
      });

    expect(await read()).toEqual({ bodies: [], transitions: undefined });
    await admin.put('/workflow/definitions/Order', orderDefinition());
    expect(await read()).toEqual({ bodies: [true], transitions: ['Approve', 'Cancel'] });
    expect(await read()).toEqual({ bodies: [false], transitions: ['Approve', 'Cancel'] });
    const transitions = [{ name: 'Ship', from: 'Draft', to: 'Shipped' }];
    await admin.put('/workflow/definitions/Order', { initialState: 'Draft', transitions });
    expect(await read()).toEqual({ bodies: [true], transitions: ['Ship'] });
    expect(await read()).toEqual({ bodies: [false], transitions: ['Ship'] });
    // A replica of the database that took over may have lost a version and got another one under its number.
    await workflow.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
        UPDATE definition SET body = (SELECT body FROM definition WHERE version = 1), saved_at = saved_at + interval '1 s'
        WHERE version = 2`,
    );
    expect(await read()).toEqual({ bodies: [true], transitions: ['Approve', 'Cancel'] });
    expect(await read()).toEqual({ bodies: [false], transitions: ['Approve', 'Cancel'] });
    await admin.delete('/workflow/definitions/Order');
    expect(await read()).toEqual({ bodies: [false], transitions: undefined });
    expect(await read()).toEqual({ bodies: [false], transitions: undefined });
  });
});
