import { z } from 'zod';
import { Problem } from './problem';
import { parseInput } from './validation';

const problemOf = (schema: z.ZodType, input: unknown): Problem => {
  try {
    parseInput(schema, input, 'body');
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error('The input was accepted.');
};

describe('the detail of a body that breaks a rule', () => {
  const filled = (message?: string) =>
    z.object({ name: z.string().refine((name) => name !== '', { params: { rule: 'NotEmpty' }, message }) });

  it('is the message of the rule', () => {
    expect(problemOf(filled('Write something.'), { name: '' }).detail).toBe('Write something.');
  });

  it('points to the errors where the rule has no message', () => {
    const { detail, errors } = problemOf(filled(), { name: '' });
    expect(detail).toBe('One or more fields are not valid; see errors.');
    expect(errors).toEqual({ name: ['Service:Validation:NotEmptyValidator'] });
  });
});

describe('a value that an enumeration does not have', () => {
  const format = z.object({ format: z.union([z.literal(0), z.literal(1)]) });
  const formats = z.object({ format: z.literal([0, 1]) });

  it.each([format, formats])(
    'breaks a rule when it is an integer too, else it has the wrong type',
    (schema) => {
      expect(problemOf(schema, { format: 7 }).errors).toEqual({
        format: ['Service:Validation:EnumValidator'],
      });
      for (const value of [0.5, '0', true])
        expect(problemOf(schema, { format: value })).toMatchObject({ kind: 'malformed' });
    },
  );
});

describe('a body with errors', () => {
  const names = z.object({ names: z.array(z.string().min(1, { abort: true })) });

  it('is told all of them', () => {
    const { errors } = problemOf(names, { names: Array(1_000).fill('') });
    expect(Object.keys(errors ?? {})).toHaveLength(1_000);
  });

  it('is told all of them where it is the largest batch', () => {
    const name = z.string().min(1, { abort: true });
    const items = z.object({
      items: z.array(z.object({ id: name, by: name, to: name, comment: z.string() })),
    });
    const body = { items: Array.from({ length: 500 }, () => ({ id: 'a', by: 'b', to: 'c', comment: '' })) };
    body.items[7]!.id = '';
    body.items[70]!.by = '';
    body.items[499]!.to = '';
    expect(Object.keys(problemOf(items, body).errors ?? {})).toEqual([
      'items[7].id',
      'items[70].by',
      'items[499].to',
    ]);
  });

  it('is told the first one where it may have very many', () => {
    const { errors } = problemOf(names, { names: Array(100_000).fill('') });
    expect(errors).toEqual({ 'names[0]': ['Service:Validation:NotEmptyValidator'] });
  });

  it('is told all of them where few values have them, among lists and objects', () => {
    const shape = z.object({ lists: z.array(z.array(z.string().min(1))), texts: z.array(z.string().min(1)) });
    const few = { lists: [[''], ['a', '']], texts: [''], other: { a: { b: [1, 2, 3] } } };
    expect(Object.keys(problemOf(shape, few).errors ?? {})).toEqual([
      'lists[0][0]',
      'lists[1][1]',
      'texts[0]',
    ]);
  });

  it('is not searched where its values fit', () => {
    const unread = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('It was searched.');
        },
      },
    );
    const body = { name: 'a', more: unread };
    expect(parseInput(z.object({ name: z.string() }), body, 'body')).toEqual({ name: 'a' });
  });

  it('is looked at as a whole, however large it is', () => {
    const body = { names: [...(Array(100_000).fill('a') as string[]), ''] };
    expect(problemOf(names, body).errors).toEqual({
      'names[100000]': ['Service:Validation:NotEmptyValidator'],
    });
    expect(parseInput(names, { names: body.names.slice(0, -1) }, 'body').names).toHaveLength(100_000);
  });
});
