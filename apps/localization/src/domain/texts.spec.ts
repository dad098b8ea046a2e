import fc from 'fast-check';
import { arrangeBaseTexts, baseText, flatten, mergeTexts, type NestedTexts, type Override } from './texts';

const hostileKey = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'a'),
  fc.string(),
);

afterEach(() => {
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
});

const base = arrangeBaseTexts({
  Shop: [
    { culture: 'en', texts: { title: 'Shop', basket: { empty: 'Nothing here', colour: 'Color' } } },
    { culture: 'en-GB', texts: { basket: { colour: 'Colour' } } },
    { culture: 'fr', texts: { title: 'Boutique', basket: { empty: 'Rien ici' } } },
  ],
});
const override = (cultureName: string, key: string, value: string): Override => ({
  resourceName: 'Shop',
  cultureName,
  key,
  value,
});

describe('flattening a resource file', () => {
  it('joins the keys of groups with dots', () => {
    expect({ ...flatten({ a: 'x', b: { c: 'y', d: { e: 'z' } } }) }).toEqual({
      a: 'x',
      'b.c': 'y',
      'b.d.e': 'z',
    });
  });

  it('treats every key as data, also __proto__ and constructor', () => {
    const nested = JSON.parse(
      '{"__proto__": {"polluted": "1"}, "a": {"__proto__": {"constructor": "2"}}}',
    ) as NestedTexts;
    expect(Object.entries(flatten(nested))).toEqual([
      ['__proto__.polluted', '1'],
      ['a.__proto__.constructor', '2'],
    ]);
  });

  it('loses no text of any tree', () => {
    const { tree } = fc.letrec<{ tree: NestedTexts; node: string | NestedTexts }>((tie) => ({
      node: fc.oneof({ maxDepth: 4 }, fc.string(), tie('tree')),
      tree: fc
        .array(fc.tuple(hostileKey, tie('node')))
        .map((entries) => Object.fromEntries(entries) as NestedTexts),
    }));
    const leaves = (group: NestedTexts, prefix = ''): string[] =>
      Object.entries(group).flatMap(([key, value]) =>
        typeof value === 'string' ? [prefix + key] : leaves(value, `${prefix}${key}.`),
      );
    fc.assert(
      fc.property(tree, (texts) =>
        expect(new Set(Object.keys(flatten(texts)))).toEqual(new Set(leaves(texts))),
      ),
    );
  });
});

describe('the texts of a tenant in one culture', () => {
  it('fall back text by text', () => {
    expect({ ...mergeTexts(base, [], 'fr')['Shop'] }).toEqual({
      title: 'Boutique',
      'basket.empty': 'Rien ici',
      'basket.colour': 'Color',
    });
    expect(mergeTexts(base, [], 'en-GB')['Shop']!['basket.colour']).toBe('Colour');
  });

  it('have an override in its culture and in those that fall back to it', () => {
    const overrides = [override('en', 'title', 'Store'), override('fr', 'basket.empty', '')];

    expect(mergeTexts(base, overrides, 'en-GB')['Shop']!['title']).toBe('Store');
    expect(mergeTexts(base, overrides, 'fr-CA')['Shop']).toMatchObject({
      title: 'Boutique',
      'basket.empty': '',
    });
    expect(mergeTexts(base, overrides, 'en')['Shop']!['basket.empty']).toBe('Nothing here');
  });

  it('may have keys, resources and cultures without a text of the platform', () => {
    const overrides = [
      override('de', 'title', 'Laden'),
      { ...override('en', '__proto__', 'x'), resourceName: '__proto__' },
    ];

    const merged = mergeTexts(base, overrides, 'de');

    expect(merged['Shop']!['title']).toBe('Laden');
    expect(JSON.stringify(merged)).toContain('"__proto__":{"__proto__":"x"}');
  });

  it('are the most specific ones there are, an override before the text of the platform', () => {
    const cultures = ['fr-CA', 'fr', 'en'];
    const anOverride = fc.record({
      resourceName: fc.constant('Shop'),
      cultureName: fc.constantFrom(...cultures),
      key: fc.constantFrom('title', 'basket.empty', 'own'),
      value: fc.string(),
    });
    const unique = fc.uniqueArray(anOverride, {
      selector: ({ cultureName, key }) => `${cultureName} ${key}`,
    });
    fc.assert(
      fc.property(unique, fc.constantFrom('title', 'basket.empty', 'own'), (overrides, key) => {
        const model = cultures
          .map(
            (culture) =>
              overrides.find((one) => one.cultureName === culture && one.key === key)?.value ??
              base[culture]?.['Shop']?.[key],
          )
          .find((text) => text !== undefined);
        expect(mergeTexts(base, overrides, 'fr-CA')['Shop']![key]).toBe(model);
      }),
    );
  });
});

describe('the text of the platform for a key', () => {
  it('is that of the nearest culture', () => {
    expect(baseText(base, override('fr-CA', 'title', ''))).toBe('Boutique');
    expect(baseText(base, override('fr', 'basket.colour', ''))).toBe('Color');
    expect(baseText(base, override('en', 'nothing', ''))).toBeUndefined();
    expect(baseText(base, override('en', 'constructor', ''))).toBeUndefined();
  });
});
