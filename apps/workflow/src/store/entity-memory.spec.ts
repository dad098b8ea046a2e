import { newId } from '@plinth/kernel/uuid';
import { invoiceDefinition } from '../domain/definitions/invoice';
import { EntityMemory } from './entity-memory';

const key = { tenantId: newId(), entityType: 'Invoice', entityId: '1' };
const definition = {
  definition: invoiceDefinition,
  version: 1,
  scope: 'Platform' as const,
  savedAt: null,
  savedBy: null,
};
const submitted = {
  definition,
  definitionStamp: '0.0',
  state: 'Submitted',
  revision: 1,
  moves: 1,
  isWaiting: false,
};

describe('what a process remembers of entities', () => {
  it('is how they were seen last', () => {
    const memory = new EntityMemory();
    memory.remember(key, submitted);
    memory.remember(key, { ...submitted, state: 'Draft', revision: 2, moves: 2 });

    expect(memory.recall(key)).toMatchObject({
      state: 'Draft',
      revision: 2,
      moves: 2,
      definitionStamp: '0.0',
    });
  });

  it('takes one that was not seen for one that was never moved, where its definition was seen', () => {
    const memory = new EntityMemory();
    memory.remember(key, submitted);

    const other = { ...key, entityId: '2' };
    expect(memory.recall(other)).toMatchObject({ definition, state: undefined, revision: 0, moves: 0 });
    expect(memory.recall({ ...other, entityType: 'Order' })).toBeUndefined();
    expect(memory.recall({ ...other, tenantId: newId() })).toBeUndefined();
  });

  it('is nothing of one that waits for an approval, and of a type with very many transitions', () => {
    const memory = new EntityMemory();
    memory.remember(key, { ...submitted, isWaiting: true });
    expect(memory.recall(key)).toBeUndefined();

    const transitions = Array.from({ length: 201 }, () => invoiceDefinition.transitions[0]!);
    const large = { ...definition, definition: { ...invoiceDefinition, transitions } };
    memory.remember({ ...key, entityType: 'Large' }, { ...submitted, definition: large });
    expect(memory.recall({ ...key, entityType: 'Large' })).toBeUndefined();
  });

  it('has a limit, beyond which it forgets what it saw first', () => {
    const memory = new EntityMemory();
    const seen = (number: number) => ({ ...key, entityId: `${number}` });
    for (let number = 0; number <= 10_000; number++) memory.remember(seen(number), submitted);

    expect(memory.recall(seen(0))).toMatchObject({ moves: 0 });
    for (const number of [1_000, 10_000]) expect(memory.recall(seen(number))).toMatchObject({ moves: 1 });
  });
});
