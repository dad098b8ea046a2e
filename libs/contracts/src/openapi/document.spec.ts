import { parseListQuery, type ListRules } from '@plinth/kernel/list-query';
import type { z } from 'zod';
import { allEndpoints, allProblems } from '../all';
import { ImportReportResponse } from '../data-exchange/shapes';
import type { Endpoint } from '../endpoint';
import { platformEndpoints } from '../platform/endpoints';
import { codeSamples } from './code-samples';
import { exampleOf, WITHOUT_EXAMPLE } from './examples';
import { exampleParams } from './operations';
import { listParameters } from './list-parameters';
import { SchemaCollection } from './schemas';

const everyEndpoint = Object.entries(allEndpoints).flatMap(([service, endpoints]) =>
  Object.entries<Endpoint>(endpoints).map(([name, endpoint]) => ({ service, name, endpoint })),
);

describe.each(everyEndpoint)('the example of $name', ({ service, name, endpoint }) => {
  const schemas = new SchemaCollection();
  const params = exampleParams(endpoint, schemas);
  const body = endpoint.body ? exampleOf(schemas.of(endpoint.body), schemas) : undefined;

  it('is accepted by the contract', () => {
    expect(endpoint.params?.safeParse(params).error).toBeUndefined();
    expect(endpoint.body?.safeParse(body).error).toBeUndefined();
  });

  it('shows responses that the contract allows, with values as they are in life', () => {
    for (const { body: shape } of [endpoint.success, ...(endpoint.alternatives ?? [])]) {
      if (!shape) continue;
      const example = exampleOf(schemas.of(shape), schemas);
      expect(shape.safeParse(example).error).toBeUndefined();
      expect(JSON.stringify([example, body ?? null, params])).not.toContain(JSON.stringify(WITHOUT_EXAMPLE));
    }
  });

  it('is TypeScript that calls the endpoint by its name', () => {
    const [sample] = codeSamples(service, name, endpoint, { params, body });
    const source = String(sample!['source']);
    expect(source).toContain(`.${name}(`);
    const call = source.slice(source.indexOf('await')).split('\nfor await')[0]!.split('\nawait')[0]!;
    expect(
      () =>
        new Function(
          'client',
          'file',
          'definitionName',
          `return async () => { ${call.replace(/^await (\w+)\./, 'await client.')} }`,
        ),
    ).not.toThrow();
  });
});

it('calls what is not found by its name, in the same words for each', () => {
  const titles = Object.entries(allProblems).flatMap(([slug, { title }]) =>
    slug.endsWith('-not-found') ? [title] : [],
  );
  expect(titles.length).toBeGreaterThan(10);
  expect(titles.filter((title) => !title.endsWith(' not found'))).toEqual([]);
});

/** Texts that are chosen from, but are no enumerations: formats, encodings, marks of files, types, yes and no. */
const notEnumerations = [
  'csv',
  'xlsx',
  'json',
  'mermaid',
  'true',
  'false',
  '.',
  ',',
  '"',
  "'",
  'string',
  'integer',
  'number',
  'boolean',
  'timestamp',
  'uuid',
  'enum',
];

it('spells enumerations as PascalCase, except those that the interface and its silences spell otherwise', () => {
  const schemas = new SchemaCollection();
  const found = new Set<string>();
  const endpoints = [...everyEndpoint.map(({ endpoint }) => endpoint), ...Object.values(platformEndpoints)];
  const inline = endpoints.flatMap(({ query, body, success }: Endpoint) =>
    [query, body, success.body].flatMap((shape) => (shape ? [schemas.of(shape)] : [])),
  );
  JSON.stringify([inline, schemas.components], (name, value: unknown) => {
    const isOfEncodings = Array.isArray(value) && value.includes('utf-8');
    if (name === 'enum' && Array.isArray(value) && !isOfEncodings)
      value.forEach((one) => found.add(String(one)));
    return value;
  });
  const others = [...found].filter((value) => !/^([A-Z][A-Za-z]*|\d+)$/.test(value));
  expect(others.filter((value) => !notEnumerations.includes(value)).sort()).toEqual(
    ['user', 'tenant', 'global', 'insert', 'update', 'upsert', 'continue', 'abort']
      .concat('all', 'overridden', 'drifted', 'up', 'down', 'draining')
      .sort(),
  );
});

it('has no pattern that other languages read otherwise: part of a text, or classes of Unicode', () => {
  const schemas = new SchemaCollection();
  const inline = everyEndpoint.flatMap(({ endpoint: { params, query, body, success } }) =>
    [params, query, body, success.body].flatMap((shape) => (shape ? [schemas.of(shape)] : [])),
  );
  const patterns = new Set<string>();
  JSON.stringify([inline, schemas.components], (name, value: unknown) => {
    if (name === 'pattern' && typeof value === 'string') patterns.add(value);
    return value;
  });
  expect([...patterns].filter((pattern) => !/^\^[\s\S]*\$$/.test(pattern))).toEqual([]);
  expect([...patterns].filter((pattern) => /\\[pP]/.test(pattern))).toEqual([]);
  expect(patterns.size).toBeGreaterThan(10);
});

describe('the duration in the report of an import', () => {
  const duration = new SchemaCollection().of(ImportReportResponse.shape.duration);

  it.each(['PT0.05S', 'PT12.345S', 'PT1H5S'])(
    'may be %s, which ISO 8601 allows and the format of JSON Schema does not',
    (text) => {
      expect(duration).not.toHaveProperty('format');
      expect(text).toMatch(new RegExp(String(duration.pattern)));
    },
  );
});

const id = '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55';
const nilId = '00000000-0000-0000-0000-000000000000';

describe('a text that the document allows', () => {
  const cultures = ['fr', 'de-1901-u-co', 'de-u-co-phonebk', 'sl-1994-rozaj', 'de-x-a-b'];
  const words = ['', ' ', ',', 'x', 'a/b', 'a~b', 'a\u0095', ' a', 'é', '\t', ';', 'fr,en', 'fr,', '7'];
  const probes = [...words, ...cultures, id, nilId];
  const everyText = everyEndpoint.flatMap(({ name, endpoint: { query, body } }) =>
    Object.entries({ ...query?.shape, ...(body as z.ZodObject | undefined)?.shape }).flatMap(
      ([parameter, shape]) => {
        const described = new SchemaCollection().of(shape);
        const schemas = [described, ...((described['anyOf'] ?? []) as (typeof described)[])];
        const {
          type,
          format,
          pattern = '',
          minLength = 0,
          enum: values,
        } = schemas.find((schema) => schema['type'] === 'string') ?? {};
        if (type !== 'string' || (format !== undefined && format !== 'language-tag')) return [];
        const isAllowed = (probe: string) =>
          new RegExp(String(pattern), 'u').test(probe) &&
          probe.length >= Number(minLength) &&
          (!Array.isArray(values) || values.includes(probe));
        return [{ name, parameter, shape, allowed: probes.filter(isAllowed) }];
      },
    ),
  );

  it.each(everyText)('is accepted as $parameter of $name, and the other way round', ({ shape, allowed }) => {
    // What is accepted only for the sake of those who write so already.
    const unusual = ['é', 'de-1901-u-co', ''];
    expect(allowed.filter((text) => !shape.safeParse(text).success)).toEqual([]);
    const refused = probes.filter((text) => !allowed.includes(text) && !unusual.includes(text));
    expect(refused.filter((text) => shape.safeParse(text).success)).toEqual([]);
  });
});

describe('a filter that the document allows', () => {
  const rules: ListRules = {
    filterable: {
      at: { type: 'timestamp' },
      id: { type: 'uuid' },
      isOn: { type: 'boolean' },
      status: { type: 'enum', values: { Draft: 0, InReview: 1 } },
    },
    sortable: ['at'],
    defaultSort: 'at',
    searchable: [],
  };
  const { schema } = listParameters(rules).find(({ name }) => name === 'filter') as unknown as {
    schema: { properties: Record<string, { pattern: string }> };
  };
  const isAllowed = (field: string, text: string) =>
    new RegExp(schema.properties[`${field}.eq`]!.pattern).test(text);
  const accepts = (field: string, text: string) => {
    try {
      return parseListQuery({ [`filter[${field}.eq]`]: text }, rules).filters.length === 1;
    } catch {
      return false;
    }
  };

  it.each([
    [
      'at',
      ['0001-01-01', '9999-12-31T23:59:59.999Z', '2026-01-31', '2024-02-29', '2000-02-29', '0400-02-29'],
    ],
    [
      'at',
      ['2026-11-25T10:00', '2026-11-25T10:00Z', '2026-11-25T10:00:00.5+05:30', '2026-11-30T10:00-00:00'],
    ],
    ['id', [id, nilId, '01939C5E-7B1A-0C3E-0F00-2B6A4D1E8F55']],
    ['isOn', ['true', 'False', 'TRUE']],
    ['status', ['Draft', '1']],
  ])('of %s is accepted, such as %s', (field, texts) => {
    expect(texts.filter((text) => !isAllowed(field, text) || !accepts(field, text))).toEqual([]);
  });

  it.each([
    [
      'at',
      ['0000-01-01', '0000-02-29', '2026-02-29', '1900-02-29', '2026-11-31', '2026-13-01', '2026-11-25T10'],
    ],
    [
      'at',
      ['0001-01-01T00:00+01:00', '9999-12-31T23:59-01:00', '2026-11-25T10:00+24:00', '2026-11-25 10:00'],
    ],
    ['id', ['01939c5e', `${id}0`]],
    ['isOn', ['1', 'yes']],
    ['status', ['2', 'Published', '']],
  ])('of %s is not one that is refused, such as %s', (field, texts) => {
    expect(texts.filter((text) => isAllowed(field, text) || accepts(field, text))).toEqual([]);
  });
});

it('says how many revisions a page of the history of a template has where nothing is said', () => {
  const { page, pageSize } = allEndpoints.template.getTemplateHistory.query.shape;
  const schemas = new SchemaCollection();
  expect([schemas.of(page), schemas.of(pageSize)]).toMatchObject([{ default: 1 }, { default: 20 }]);
});
