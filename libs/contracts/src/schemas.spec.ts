import { parseInput } from '@plinth/kernel/validation';
import { z } from 'zod';
import { DefinitionName } from './data-exchange/shapes';
import { EntityTypeInPath, Id, text } from './schemas';
import { TemplateNameInPath } from './template/shapes';

const row = '\u0301'.repeat(16) + '\u0316'.repeat(16);

it('takes an id in any case, as it is stored', () => {
  const id = '01900000-0000-7000-8000-00000000abcd';
  expect(parseInput(Id, id.toUpperCase(), 'path')).toBe(id);
});

describe('a text', () => {
  const Body = z.object({ name: text(10, 1), definitionName: DefinitionName });
  const parse = (name: string, definitionName = 'a') => parseInput(Body, { name, definitionName }, 'body');
  const errorsOf = (call: () => unknown): unknown => {
    try {
      call();
    } catch (error) {
      return (error as { errors?: unknown }).errors;
    }
    return undefined;
  };

  it('is composed before its characters are counted', () => {
    expect(parse('e\u0301'.repeat(10), 'e\u0301').name).toBe('é'.repeat(10));
    expect(parse('a', 'e\u0301').definitionName).toBe('é');
    expect(errorsOf(() => parse('e\u0301'.repeat(11)))).toEqual({
      name: ['Service:Validation:MaximumLengthValidator'],
    });
    expect(errorsOf(() => parse('', ''))).toEqual({
      name: ['Service:Validation:NotEmptyValidator'],
      definitionName: ['Service:Validation:NotEmptyValidator'],
    });
  });

  it('has no long row of combining marks, which normalizing would sort', () => {
    const normalize = jest.spyOn(String.prototype, 'normalize');
    expect(errorsOf(() => parse(`a${row}`, `a${row}`))).toEqual({
      name: ['Service:Validation:FormatValidator'],
      definitionName: ['Service:Validation:FormatValidator'],
    });
    expect(errorsOf(() => parse(`a${row.repeat(1_000)}`, `a${row.repeat(1_000)}`))).toEqual({
      name: ['Service:Validation:MaximumLengthValidator'],
      definitionName: ['Service:Validation:MaximumLengthValidator'],
    });
    expect(() => parseInput(EntityTypeInPath, `a${row}`, 'path')).toThrow('1 to 100 characters');
    // A name that cannot exist is looked for as it is.
    expect(parseInput(TemplateNameInPath, `a${row}`, 'path')).toBe(`a${row}`);
    const composedTexts = normalize.mock.contexts.map(String);
    expect(composedTexts.filter((one) => one.includes(row))).toEqual([]);
    normalize.mockRestore();

    expect(parseInput(EntityTypeInPath, 'e\u0301', 'path')).toBe('é');
    expect(parseInput(TemplateNameInPath, 'e\u0301', 'path')).toBe('é');
  });
});
