import type { SettingDefinition } from '@plinth/contracts/settings/shapes';
import { Problem } from '@plinth/kernel/problem';
import { requireFittingValue, requireUsableDefinition } from './value-schema';

const aDefinition = (
  schema: Record<string, unknown>,
  defaultValue: string | null = null,
): SettingDefinition => ({
  name: 'Sample',
  description: '',
  defaultValue,
  scopes: ['user'],
  isVisibleToUsers: true,
  isSecret: false,
  schema,
});

const verdict = (schema: Record<string, unknown>, value: string) => {
  try {
    requireFittingValue(aDefinition(schema), value);
    return 'fits';
  } catch (error) {
    return (error as Problem).errors?.['value'];
  }
};

describe('the JSON Schema of a setting', () => {
  it.each([
    [{ type: 'string', format: 'culture' }, 'fr-CA'],
    [{ type: 'string', format: 'time-zone' }, 'Europe/Paris'],
    [{ type: 'string', format: 'time-zone' }, 'US/Eastern'],
    [{ type: 'string', format: 'time-zone' }, 'eUROPE/pARIS'],
    [{ type: 'string', enum: ['true', 'false'] }, 'true'],
    [{ type: 'integer', minimum: 1 }, '7'],
    [{ type: 'boolean' }, 'false'],
    [{}, 'anything'],
  ])('%j accepts %s', (schema, value) => {
    expect(verdict(schema, value)).toBe('fits');
  });

  it.each([
    [{ type: 'string', format: 'culture' }, 'no culture', 'Format'],
    [{ type: 'string', format: 'time-zone' }, 'Mars/Olympus', 'Format'],
    [{ type: 'string', format: 'time-zone' }, '+01:00', 'Format'],
    [{ type: 'string', enum: ['true', 'false'] }, 'perhaps', 'Enum'],
    [{ type: 'string', maxLength: 3 }, 'long', 'MaximumLength'],
    [{ type: 'integer', minimum: 1 }, '0', 'Range'],
    [{ type: 'integer' }, 'seven', 'Format'],
  ])('%j refuses %s as %s', (schema, value, rule) => {
    expect(verdict(schema, value)).toEqual([`Service:Validation:${rule}Validator`]);
  });

  it('is refused when it is invalid, or when the default does not fit it', () => {
    expect(() => requireUsableDefinition(aDefinition({ type: 'colour' }))).toThrow(Problem);
    expect(() => requireUsableDefinition(aDefinition({ type: 'integer' }, 'seven'))).toThrow(Problem);
    expect(() => requireUsableDefinition(aDefinition({ type: 'integer' }, '7'))).not.toThrow();
  });

  it('makes no formatter for a time zone whose name it knows, however that is written', () => {
    const made = jest.spyOn(Intl, 'DateTimeFormat');
    const verdicts = [
      'europe/Paris',
      'EUROPE/PARIS',
      'us/Pacific',
      'US/PACIFIC',
      'x'.repeat(65),
      'Asia/Bang\u212aok',
    ];

    expect(verdicts.map((name) => verdict({ type: 'string', format: 'time-zone' }, name))).toEqual([
      'fits',
      'fits',
      'fits',
      'fits',
      ['Service:Validation:FormatValidator'],
      ['Service:Validation:FormatValidator'],
    ]);
    expect(made.mock.calls.length).toBeLessThanOrEqual(1);
    made.mockRestore();
  });
});
