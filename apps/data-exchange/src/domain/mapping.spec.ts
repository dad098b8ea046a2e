import fc from 'fast-check';
import type { DefinitionField } from './definition';
import { atOnce } from '@plinth/exchange/in-turns';
import {
  confirmMappings,
  draftMappings,
  headerHash,
  similarity,
  normalizeName,
  suggestMappings,
} from './mapping';

const aField = (propertyPath: string, parts: Partial<DefinitionField> = {}): DefinitionField => ({
  propertyPath,
  type: 'string',
  header: propertyPath,
  description: '',
  format: '',
  required: false,
  readOnly: false,
  aliases: [],
  synonyms: [],
  isNavigation: false,
  isSecret: false,
  ...parts,
});

const fields = [
  aField('firstName', {
    header: 'First name',
    aliases: ['given name'],
    synonyms: ['vorname', 'prénom', 'nombre'],
  }),
  aField('email', { header: 'E-mail', synonyms: ['mail address', 'courriel', 'correo'] }),
  aField('city', { header: 'City', synonyms: ['town', 'ort', 'ville', 'ciudad'] }),
];

const suggest = (headers: string[], saved?: { sourceColumn: string; targetProperty: string | null }[]) =>
  atOnce(suggestMappings(headers, fields, saved)).map(({ targetProperty, confidence }) => [
    targetProperty,
    confidence,
  ]);

describe('the columns of a wide file', () => {
  it('are compared in many steps', () => {
    const headers = Array.from({ length: 1_000 }, (_, at) => `Colonne ${at}`);
    const steps = suggestMappings(headers, fields);
    let count = 0;
    while (!steps.next().done) count++;

    expect(count).toBeGreaterThan(50);
  });

  it('are few in each step, also where their names are read', () => {
    const normalize = jest.spyOn(String.prototype, 'normalize');
    const headers = Array.from({ length: 1_000 }, (_, at) => `Group ${at % 9} (m) column ${at}`);
    const steps = suggestMappings(headers, fields);
    const counts: number[] = [];
    for (let done = false; !done;) {
      normalize.mockClear();
      done = steps.next().done!;
      counts.push(normalize.mock.calls.length);
    }
    normalize.mockRestore();

    expect(Math.max(...counts)).toBeLessThan(250);
  });
});

describe('mappings with many errors', () => {
  it.each([
    ['that are confirmed', confirmMappings],
    ['of a draft', draftMappings],
  ])('%s are refused with the first hundred', (_which, check) => {
    const given = Array.from({ length: 1_000 }, (_, at) => ({
      sourceColumn: `${'x'.repeat(100)}${at}`,
      targetProperty: `${'y'.repeat(100)}${at}`,
    }));
    let refusal: unknown;
    try {
      check(given, ['Name'], fields);
    } catch (error) {
      refusal = error;
    }
    const { detail, errors } = refusal as { detail: string; errors: object };
    expect(Object.keys(errors)).toHaveLength(100);
    expect(detail.length).toBeLessThan(20_000);
  });
});

describe('saved mappings', () => {
  it('are those of the same columns, in a correction file too', () => {
    const hash = headerHash(['Name', 'City']);
    expect(headerHash(['city ', 'name', '_Errors'])).toBe(hash);
    expect(headerHash(['city', 'name', 'errors'])).not.toBe(hash);
  });
});

describe('suggested mappings', () => {
  it.each([
    ['firstName', 'firstName', 'Exact'],
    ['FIRST_NAME', 'firstName', 'Exact'],
    ['first-name', 'firstName', 'Exact'],
    ['Given Name', 'firstName', 'Exact'],
    ['E-Mail', 'email', 'Exact'],
    ['Fristname', null, 'Manual'],
    ['Firstnames', 'firstName', 'Fuzzy'],
    ['Emails', 'email', 'Fuzzy'],
    ['Prenom', 'firstName', 'Semantic'],
    ['Vorname', 'firstName', 'Semantic'],
    ['Ville', 'city', 'Semantic'],
    ['Shoe size', null, 'Manual'],
    ['', null, 'Manual'],
  ])('map the column %j to %j (%s)', (header, property, confidence) => {
    expect(suggest([header])).toEqual([[property, confidence]]);
  });

  it('leave out up to three words that several columns begin with', () => {
    const below = (group: string) => suggest([`${group} ville`, `${group} shoe size`])[0];
    expect(below('Address of work')).toEqual(['city', 'Fuzzy']);
    expect(below('The address of work')).toEqual([null, 'Manual']);
  });

  it('leave out what stands in brackets', () => {
    expect(suggest(['First\nname (as in passport)', 'Ville [FR]'])).toEqual([
      ['firstName', 'Fuzzy'],
      ['city', 'Fuzzy'],
    ]);
  });

  it('leave out the name that several columns begin with, rather than take a similar one', () => {
    const people = [...fields, aField('cityKind', { header: 'Home sity' })];
    const of = (headers: string[]) =>
      atOnce(suggestMappings(headers, people)).map(({ targetProperty }) => targetProperty);
    expect(of(['Home First name', 'Home City', 'Work Phone'])).toEqual(['firstName', 'city', null]);
    expect(of(['Home City', 'Work Phone'])).toEqual(['cityKind', null]);
  });

  it('map each property to the most similar of its columns', () => {
    expect(suggest(['Emails', 'courriel', 'email'])).toEqual([
      [null, 'Manual'],
      [null, 'Manual'],
      ['email', 'Exact'],
    ]);
  });

  it('prefer mappings that were confirmed before', () => {
    const saved = [
      { sourceColumn: 'EMAIL', targetProperty: 'city' },
      { sourceColumn: 'Town', targetProperty: 'gone' },
    ];
    expect(suggest(['email', 'town'], saved)).toEqual([
      ['city', 'Saved'],
      [null, 'Manual'],
    ]);
  });

  it('contain every column once and every property at most once, for any header', () => {
    const header = fc.uniqueArray(
      fc.oneof(fc.string(), fc.constantFrom('email', 'E mail', 'town', 'Ort', 'first')),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(header, (headers) => {
        const suggestions = atOnce(suggestMappings(headers, fields));
        expect(suggestions.map(({ sourceColumn }) => sourceColumn)).toEqual(headers);
        const targets = suggestions.flatMap(({ targetProperty }) => targetProperty ?? []);
        expect(new Set(targets).size).toBe(targets.length);
      }),
    );
  });
});

describe('similarity', () => {
  it('is 1 for equal texts, symmetric, and between 0 and 1', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (left, right) => {
        expect(similarity(left, right)).toBeCloseTo(similarity(right, left));
        expect(similarity(left, right)).toBeGreaterThanOrEqual(0);
        expect(similarity(left, right)).toBeLessThanOrEqual(1);
        if (left !== '') expect(similarity(left, left)).toBe(1);
      }),
    );
  });

  it('ignores case, accents and separators', () => {
    expect(normalizeName('  Prénom_de l’élève ')).toBe('prenomdeleleve');
  });
});
