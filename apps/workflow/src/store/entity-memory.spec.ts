import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { EntityMemory } from './entity-memory';
import { KnownDefinitions } from './known-definitions';

const key = { tenantId: newId(), entityType: 'Invoice', entityId: '1' };
const submitted = { state: 'Submitted', revision: 1, moves: 1, isWaiting: false };

/** Of a process that has read that nobody stored a definition of invoices, so that the one that is built in applies. */
function aMemory(): EntityMemory {
  const known = new KnownDefinitions();
  for (const owner of [key.tenantId, HOST_TENANT_ID]) known.remember(owner, 'Invoice', undefined);
  return new EntityMemory(known);
}

describe('what a process remembers of entities', () => {
  it('is how they were seen last', () => {
    const memory = aMemory();
    memory.remember(key, submitted);
    memory.remember(key, { ...submitted, state: 'Draft', revision: 2, moves: 2 });

    expect(memory.recall(key)).toMatchObject({
      state: 'Draft',
      revision: 2,
      moves: 2,
      definitionStamp: '0.0',
    });
  });

  it('takes one that was not seen for one that was never moved, where its definition is known', () => {
    const memory = aMemory();
    memory.remember(key, submitted);

    const other = { ...key, entityId: '2' };
    expect(memory.recall(other)).toMatchObject({ state: undefined, revision: 0, moves: 0 });
    expect(memory.recall({ ...other, entityType: 'Template' })).toBeUndefined();
    expect(memory.recall({ ...other, tenantId: newId() })).toBeUndefined();
  });

  it('is of no other entity, whatever characters types and ids have', () => {
    const memory = aMemory();
    memory.remember({ ...key, entityType: 'Invoice/2026', entityId: '1' }, submitted);

    expect(memory.recall({ ...key, entityId: '2026/1' })).toMatchObject({ state: undefined, moves: 0 });
  });

  it('is nothing of one that waits for an approval', () => {
    const memory = aMemory();
    memory.remember(key, { ...submitted, isWaiting: true });
    expect(memory.recall(key)).toBeUndefined();
  });

  it('has a limit, beyond which it forgets what it saw first', () => {
    const memory = aMemory();
    const seen = (number: number) => ({ ...key, entityId: `${number}` });
    for (let number = 0; number <= 10_000; number++) memory.remember(seen(number), submitted);

    expect(memory.recall(seen(0))).toMatchObject({ moves: 0 });
    for (const number of [1_000, 10_000]) expect(memory.recall(seen(number))).toMatchObject({ moves: 1 });
  });
});
