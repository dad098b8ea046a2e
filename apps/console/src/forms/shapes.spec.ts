import { refusalOf, type ShapeName } from './shapes';

const coded = (rule: string) => [`Service:Validation:${rule}Validator`];

describe('the fields of a form', () => {
  it.each<[ShapeName, Record<string, string>]>([
    ['template', { name: 'Invoice é' }],
    ['category', { name: 'Letters' }],
    ['exportPreset', { presetName: 'x'.repeat(100) }],
    ['setting', { value: '' }],
    ['comment', { body: 'Fine' }],
    ['transitionRequest', { comment: '' }],
    ['entityType', { entityType: 'Pièce comptable' }],
    ['state', { name: 'Draft' }],
    ['delegation', { from: '2026-11-26', until: '2026-11-26' }],
    ['delegation', { from: '2026-11-26', until: '2027-02-23' }],
  ])('of a %s are accepted as %j', (shape, values) => {
    expect(refusalOf(shape, values)).toBeUndefined();
  });

  it.each<[ShapeName, string, string, string]>([
    ['template', 'name', ' ', 'NotEmpty'],
    ['template', 'name', 'a/b', 'Format'],
    ['comment', 'body', '\n', 'NotEmpty'],
    ['entityType', 'entityType', 'a\u0007', 'Format'],
  ])('of a %s are refused where %s is %j, by the rule %s', (shape, field, value, rule) => {
    expect(refusalOf(shape, { [field]: value })).toEqual({
      errors: { [field]: coded(rule) },
      maximumLengths: {},
    });
  });

  it.each([
    ['2026-11-26', '2026-11-25'],
    ['2026-11-26', '2027-02-24'],
    ['2026-11-26', '9999-12-31'],
    ['9999-12-31', '9999-12-31'],
  ])('of a delegation are refused from %s until %s', (from, until) => {
    expect(refusalOf('delegation', { from, until })?.errors).toEqual({ until: coded('Range') });
  });

  it.each<[ShapeName, string, number]>([
    ['template', 'name', 200],
    ['category', 'name', 100],
    ['exportPreset', 'presetName', 200],
    ['setting', 'value', 65_536],
    ['comment', 'body', 65_536],
    ['transitionRequest', 'comment', 4_000],
    ['entityType', 'entityType', 100],
    ['state', 'name', 100],
  ])('of a %s say how long %s may be', (shape, field, maximum) => {
    expect(refusalOf(shape, { [field]: '€'.repeat(maximum) })).toBeUndefined();
    expect(refusalOf(shape, { [field]: '€'.repeat(maximum + 1) })).toEqual({
      errors: { [field]: coded('MaximumLength') },
      maximumLengths: { [field]: maximum },
    });
  });
});
