import { text } from '@plinth/contracts/schemas';
import { z } from 'zod';
import { CellError } from './field';
import { booleanField, enumField, textField } from './fields';
import { fieldsOf } from './schema-fields';

const column = { column: 'any', header: 'Any' };

describe('cells', () => {
  it.each([
    ['Yes', true],
    [' ja ', true],
    ['x', true],
    ['✓', true],
    ['t', true],
    ['on', true],
    ['F', false],
    ['NEIN', false],
    ['0', false],
  ])('say yes and no as people write it: %s', (text, value) => {
    expect(booleanField(column).parse(text)).toBe(value);
  });

  it.each(['InReview', 'in review', 'IN_REVIEW', 'In-Review'])(
    'name a value however its words are joined: %s',
    (text) => {
      const field = enumField({ ...column, values: { InReview: 'InReview', Done: 'Done' } });
      expect(field.parse(text)).toBe('InReview');
      expect(field.parse('reviewed')).toBeInstanceOf(CellError);
    },
  );

  it('may have blanks around an address of email, and texts keep theirs', () => {
    const { email, name } = fieldsOf(z.object({ email: z.email(), name: z.string() }));
    expect(email!.parse(' ada@example.com ')).toBe('ada@example.com');
    expect(email!.parse('ada at example.com')).toBeInstanceOf(CellError);
    expect(name!.parse(' Ada ')).toBe(' Ada ');
  });

  it.each([
    ['a declared field', textField({ ...column, lengthMax: 100, compose: true })],
    ['a field of a schema', fieldsOf(z.object({ name: text(100) })).name!],
  ])('are composed in %s, without long rows of combining marks', (_, field) => {
    expect(field.parse('e\u0301')).toBe('é');
    const normalize = jest.spyOn(String.prototype, 'normalize');
    expect(field.parse(`a${'\u0301\u0316'.repeat(16)}`)).toMatchObject({ message: { key: 'notValid' } });
    // A long text is refused for its length before anything else is looked at.
    expect(field.parse('e\u0301'.repeat(1_000))).toMatchObject({ message: { key: 'maximumLength' } });
    expect(normalize).not.toHaveBeenCalled();
    normalize.mockRestore();
  });
});
