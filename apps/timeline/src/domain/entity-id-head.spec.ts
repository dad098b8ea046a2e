import fc from 'fast-check';
import { entityIdHead, HEAD_LENGTH } from './entity-id-head';

describe('the head of the id of an entity', () => {
  it('is its first characters, as Postgres counts them', () => {
    const id = fc.string({ unit: fc.constantFrom('a', '1', '-', 'é', '😀', '👩‍👩‍👧'), maxLength: 40 });
    fc.assert(
      fc.property(id, (entityId) => {
        expect(entityIdHead(entityId)).toBe([...entityId].slice(0, HEAD_LENGTH).join(''));
      }),
    );
  });
});
