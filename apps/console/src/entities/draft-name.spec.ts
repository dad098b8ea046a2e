import { draftName } from './draft-name';

const ada = { tenantId: 'a tenant', userId: 'ada' };

it('names drafts of two entities differently, also where their types and ids contain blanks', () => {
  const lineOfOrder = draftName('comment', ada, { entityType: 'Order line', entityId: '7' });
  expect(draftName('comment', ada, { entityType: 'Order', entityId: 'line 7' })).not.toBe(lineOfOrder);
  expect(draftName('comment', ada, { entityType: 'Order', entityId: 'line' }, '7')).not.toBe(lineOfOrder);
});
