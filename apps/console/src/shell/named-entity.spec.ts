import { namedEntity } from './named-entity';

describe('namedEntity', () => {
  it.each([
    ['Contact 7', 'Contact', '7'],
    ['  Contact/7 ', 'Contact', '7'],
    ['Contact: a/b', 'Contact', 'a/b'],
    ['Order line é 7', 'Order line é', '7'],
    ['purchase-order 7', 'purchase-order', '7'],
    ['請求書 4711', '請求書', '4711'],
    ['4711 x', '4711', 'x'],
  ])('finds kind and id in "%s"', (text, entityType, entityId) => {
    expect(namedEntity(text)).toEqual({ entityType, entityId });
  });

  it.each(['', 'Contact', '/7', ': x'])('finds none in "%s"', (text) => {
    expect(namedEntity(text)).toBeUndefined();
  });
});
