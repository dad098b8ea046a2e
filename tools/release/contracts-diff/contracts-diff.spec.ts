import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { breaksOfApi, type ApiDocument } from './compare-api';
import { breaksOfProto, type Descriptor } from './compare-proto';
import type { Schema } from './compare-schema';
import { breaksOf, currentSurface, type Surface } from './surface';

const read = (part: string) =>
  JSON.parse(readFileSync(join(__dirname, '../../../openapi/released', `${part}.json`), 'utf8'));

describe('the contracts of this version', () => {
  it('have no breaking change since the last release', () => {
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
  response: Schema = note,
  more: Partial<ApiDocument> = {},
): ApiDocument => ({
  info: { version: '1.0' },
  components: { schemas: { Note: response } },
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

describe('breaksOfApi', () => {
  it.each<[string, ApiDocument, string]>([
    ['an operation that is gone', document(note, note, { paths: {} }), 'POST /notes is gone'],
    [
      'a property that is required now',
      document({ ...note, required: ['text', 'kind'] }),
      'body.kind is now required',
    ],
    [
      'a new property that is required',
      document({ ...note, properties: { ...note.properties, of: {} }, required: ['text', 'of'] }),
      'body.of is new and required',
    ],
    [
      'a value that is no longer allowed',
      document({ ...note, properties: { text, kind: { enum: ['a'] } } } as Schema),
      'body.kind no longer takes "b"',
    ],
    [
      'a list of allowed values where any text was allowed',
      document({ ...note, properties: { text: { ...text, enum: ['a'] }, kind } } as Schema),
      'body.text now takes only "a"',
    ],
    [
      'a lower limit',
      document({ ...note, properties: { text: { ...text, maxLength: 5 }, kind } } as Schema),
      'body.text takes less',
    ],
    [
      'a response without a property',
      document(note, { ...note, properties: { text } } as Schema),
      '201.kind is gone',
    ],
    [
      'a response property of another type',
      document(note, { ...note, properties: { text: { type: 'number' }, kind } } as Schema),
      '201.text may now be number',
    ],
    [
      'a response property that may be absent',
      document(note, { ...note, required: [] }),
      '201.text may now be absent',
    ],
  ])('reports %s', (_change, after, message) => {
    expect(breaksOfApi(document(), after)).toEqual([expect.stringContaining(message)]);
  });

  it('knows the limit of length that a pattern sets', () => {
    const withText = (schema: Schema) => document({ ...note, properties: { text: schema, kind } } as Schema);
    const before = withText({ type: 'string', pattern: '^[A-Za-z][a-z]{0,99}$' });
    expect(breaksOfApi(before, withText({ type: 'string', maxLength: 100 }))).toEqual([]);
    expect(breaksOfApi(before, withText({ type: 'string', maxLength: 99 }))).toEqual([
      expect.stringContaining('body.text takes less'),
    ]);
    const unbounded = withText({ type: 'string', pattern: '^[a-z]+$' });
    expect(breaksOfApi(unbounded, withText({ type: 'string', maxLength: 100 }))).toEqual([
      expect.stringContaining('body.text takes less'),
    ]);
  });

  const secured = (security: NonNullable<ApiDocument['security']>) => document(note, note, { security });
  const write = secured([{ bearer: ['Notes.Write'] }]);

  it.each<[string, ApiDocument, ApiDocument, string]>([
    ['a permission', secured([{ bearer: [] }]), write, 'bearer and Notes.Write'],
    ['another permission', secured([{ bearer: ['Notes.Read'] }]), write, 'bearer and Notes.Write'],
    ['a credential', secured([]), secured([{ bearer: [] }]), 'bearer'],
  ])('reports %s that is required now', (_change, before, after, needed) => {
    expect(breaksOfApi(before, after)).toEqual([`POST /notes now needs ${needed}`]);
  });

  it('allows an operation to require less', () => {
    expect(breaksOfApi(write, secured([{ bearer: [] }]))).toEqual([]);
    expect(breaksOfApi(write, secured([{}, { bearer: [] }]))).toEqual([]);
    expect(breaksOfApi(write, secured([{ bearer: ['Notes.Manage'] }, ...write.security!]))).toEqual([]);
  });

  it('allows new optional properties', () => {
    const wider = { ...note, properties: { ...note.properties, more: { type: 'string' } } };
    expect(breaksOfApi(document(), document(wider, wider))).toEqual([]);
  });

  it('allows every change in a new major version, and removing a deprecated operation', () => {
    const deprecated = document();
    deprecated.paths['/notes']!['post']!.deprecated = true;
    expect(breaksOfApi(deprecated, document(note, note, { paths: {} }))).toEqual([]);
    expect(
      breaksOfApi(document(), { ...document(note, note, { paths: {} }), info: { version: '2.0' } }),
    ).toEqual([]);
  });
});

describe('breaksOf, for events', () => {
  const surfaceOf = (events: Record<string, Schema>): Surface => ({ api: document(), events, proto: {} });
  const before = surfaceOf({ 'notes.note-written': note });

  it.each<[string, Record<string, Schema>, string]>([
    ['an event that is no longer published', {}, 'event: notes.note-written is no longer published'],
    [
      'an event without a property',
      { 'notes.note-written': { ...note, properties: { text: text! } } },
      'event: notes.note-written.kind is gone',
    ],
    [
      'an event property that may be absent',
      { 'notes.note-written': { ...note, required: [] } },
      'event: notes.note-written.text may now be absent',
    ],
    [
      'an event property of another type',
      { 'notes.note-written': { ...note, properties: { text: { type: 'number' }, kind: kind! } } },
      'event: notes.note-written.text may now be number',
    ],
  ])('reports %s', (_change, after, message) => {
    expect(breaksOf(before, surfaceOf(after))).toEqual([message]);
  });

  it('allows new properties and new events', () => {
    const more = {
      ...note,
      properties: { ...note.properties, by: { type: 'string' } },
      required: ['text', 'by'],
    };
    expect(breaksOf(before, surfaceOf({ 'notes.note-written': more, 'notes.note-read': note }))).toEqual([]);
  });
});

describe('breaksOfProto', () => {
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
      'a field number with another type',
      withAsk({ fields: { name: { id: 1, type: 'int32' } } }),
      'Ask.name (number 1) is now',
    ],
    ['a method that is gone', { nested: { ...before.nested, Notes: {} } }, 'Notes.Find is gone'],
  ])('reports %s', (_change, after, message) => {
    expect(breaksOfProto(before, after)).toEqual([expect.stringContaining(message)]);
  });

  it('allows a renamed field, a new field, and one that is gone and reserved', () => {
    const renamed = withAsk({
      fields: { title: { id: 1, type: 'string' }, more: { id: 2, type: 'string' } },
    });
    expect(breaksOfProto(before, renamed)).toEqual([]);
    expect(breaksOfProto(before, withAsk({ fields: {}, reserved: [[1, 1]] }))).toEqual([]);
  });
});
