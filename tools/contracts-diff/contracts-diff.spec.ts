import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { breaksOfApi, type ApiDocument } from './compare-api';
import { breaksOfProto, type Descriptor } from './compare-proto';
import type { Schema } from './compare-schema';
import { breaksOf, currentSurface, type Surface } from './surface';

const read = (part: string) =>
  JSON.parse(readFileSync(join(__dirname, '../../openapi/released', `${part}.json`), 'utf8'));

describe('the contracts', () => {
  it('break nobody who builds on the last release', () => {
    const released: Surface = { api: read('api'), events: read('events'), proto: read('proto') };
    expect(breaksOf(released, currentSurface())).toEqual([]);
  });
});

const note: Schema = {
  type: 'object',
  properties: { text: { type: 'string', maxLength: 10 }, kind: { enum: ['a', 'b'] } },
  required: ['text'],
};
const document = (
  request: Schema = note,
  answer: Schema = note,
  more: Partial<ApiDocument> = {},
): ApiDocument => ({
  info: { version: '1.0' },
  components: { schemas: { Note: answer } },
  ...more,
  paths: more.paths ?? {
    '/notes': {
      post: {
        parameters: [{ name: 'draft', in: 'query', schema: { type: 'boolean' } }],
        requestBody: { required: true, content: { 'application/json': { schema: request } } },
        responses: {
          201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } } },
        },
      },
    },
  },
});
const { text, kind } = note.properties!;

describe('a changed interface', () => {
  it.each<[string, ApiDocument, string]>([
    ['an operation that is gone', document(note, note, { paths: {} }), 'POST /notes is gone'],
    [
      'a property that is wanted now',
      document({ ...note, required: ['text', 'kind'] }),
      'body.kind is now required',
    ],
    [
      'a new property that is wanted',
      document({ ...note, properties: { ...note.properties, of: {} }, required: ['text', 'of'] }),
      'body.of is new and required',
    ],
    [
      'a word that is not taken any more',
      document({ ...note, properties: { text, kind: { enum: ['a'] } } } as Schema),
      'body.kind no longer takes "b"',
    ],
    [
      'a list of words where any was taken',
      document({ ...note, properties: { text: { ...text, enum: ['a'] }, kind } } as Schema),
      'body.text now takes only "a"',
    ],
    [
      'a lower limit',
      document({ ...note, properties: { text: { ...text, maxLength: 5 }, kind } } as Schema),
      'body.text takes less',
    ],
    [
      'an answer with a property less',
      document(note, { ...note, properties: { text } } as Schema),
      '201.kind is gone',
    ],
    [
      'an answer of another type',
      document(note, { ...note, properties: { text: { type: 'number' }, kind } } as Schema),
      '201.text may now be number',
    ],
    [
      'an answer that may be without',
      document(note, { ...note, required: [] }),
      '201.text may now be absent',
    ],
  ])('breaks clients by %s, and says so', (_change, after, said) => {
    expect(breaksOfApi(document(), after)).toEqual([expect.stringContaining(said)]);
  });

  const secured = (security: NonNullable<ApiDocument['security']>) => document(note, note, { security });
  const write = secured([{ bearer: ['Notes.Write'] }]);

  it.each<[string, ApiDocument, ApiDocument, string]>([
    ['a permission', secured([{ bearer: [] }]), write, 'bearer and Notes.Write'],
    ['another permission', secured([{ bearer: ['Notes.Read'] }]), write, 'bearer and Notes.Write'],
    ['a credential', secured([]), secured([{ bearer: [] }]), 'bearer'],
  ])('breaks clients by %s that is needed now, and says so', (_change, before, after, needed) => {
    expect(breaksOfApi(before, after)).toEqual([`POST /notes now needs ${needed}`]);
  });

  it('breaks nobody by needing less', () => {
    expect(breaksOfApi(write, secured([{ bearer: [] }]))).toEqual([]);
    expect(breaksOfApi(write, secured([{}, { bearer: [] }]))).toEqual([]);
    expect(breaksOfApi(write, secured([{ bearer: ['Notes.Manage'] }, ...write.security!]))).toEqual([]);
  });

  it('breaks nobody by what is new and optional', () => {
    const wider = { ...note, properties: { ...note.properties, more: { type: 'string' } } };
    expect(breaksOfApi(document(), document(wider, wider))).toEqual([]);
  });

  it('may break everything in a new major version, and may drop what was deprecated', () => {
    const deprecated = document();
    deprecated.paths['/notes']!['post']!.deprecated = true;
    expect(breaksOfApi(deprecated, document(note, note, { paths: {} }))).toEqual([]);
    expect(
      breaksOfApi(document(), { ...document(note, note, { paths: {} }), info: { version: '2.0' } }),
    ).toEqual([]);
  });
});

describe('a changed fact', () => {
  const told = (events: Record<string, Schema>): Surface => ({ api: document(), events, proto: {} });
  const before = told({ 'notes.note-written': note });

  it.each<[string, Record<string, Schema>, string]>([
    ['is told no more', {}, 'fact: notes.note-written is no longer told'],
    [
      'has a property less',
      { 'notes.note-written': { ...note, properties: { text: text! } } },
      'fact: notes.note-written.kind is gone',
    ],
    [
      'may lack what it always had',
      { 'notes.note-written': { ...note, required: [] } },
      'fact: notes.note-written.text may now be absent',
    ],
    [
      'says something of another type',
      { 'notes.note-written': { ...note, properties: { text: { type: 'number' }, kind: kind! } } },
      'fact: notes.note-written.text may now be number',
    ],
  ])('breaks those who listen when it %s, and says so', (_change, after, said) => {
    expect(breaksOf(before, told(after))).toEqual([said]);
  });

  it('breaks nobody when it says more, or when there are more facts', () => {
    const more = {
      ...note,
      properties: { ...note.properties, by: { type: 'string' } },
      required: ['text', 'by'],
    };
    expect(breaksOf(before, told({ 'notes.note-written': more, 'notes.note-read': note }))).toEqual([]);
  });
});

describe('a changed question between services', () => {
  const before: Descriptor = {
    nested: {
      Ask: { fields: { name: { id: 1, type: 'string' } } },
      Notes: { methods: { Find: { requestType: 'Ask', responseType: 'Ask' } } },
    },
  };
  const withAsk = (Ask: Descriptor): Descriptor => ({ nested: { ...before.nested, Ask } });

  it.each<[string, Descriptor, string]>([
    ['a field that is gone', withAsk({ fields: {} }), 'Ask.name is gone and its number 1 is not reserved'],
    [
      'a number with another meaning',
      withAsk({ fields: { name: { id: 1, type: 'int32' } } }),
      'Ask.name (number 1) is now',
    ],
    ['a method that is gone', { nested: { ...before.nested, Notes: {} } }, 'Notes.Find is gone'],
  ])('breaks siblings by %s, and says so', (_change, after, said) => {
    expect(breaksOfProto(before, after)).toEqual([expect.stringContaining(said)]);
  });

  it('breaks nobody by a new name for a number, a new field, or one that is gone and reserved', () => {
    const renamed = withAsk({
      fields: { title: { id: 1, type: 'string' }, more: { id: 2, type: 'string' } },
    });
    expect(breaksOfProto(before, renamed)).toEqual([]);
    expect(breaksOfProto(before, withAsk({ fields: {}, reserved: [[1, 1]] }))).toEqual([]);
  });
});
