import type { z } from 'zod';
import { allEndpoints } from '../all';
import { ImportReportResponse } from '../data-exchange/shapes';
import type { Endpoint } from '../endpoint';
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

it('has no pattern that looks for a part of a text, since clients in some languages compare the whole', () => {
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

describe('a text that the document allows', () => {
  const id = '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55';
  const probes = ['', ' ', ',', 'x', 'a/b', 'a~b', 'a\u0095', 'fr', 'fr,en', 'fr,', '7', id];
  const everyText = everyEndpoint.flatMap(({ name, endpoint: { query, body } }) =>
    Object.entries({ ...query?.shape, ...(body as z.ZodObject | undefined)?.shape }).flatMap(
      ([parameter, shape]) => {
        const { type, format, pattern = '', minLength = 0, enum: values } = new SchemaCollection().of(shape);
        if (type !== 'string' || format !== undefined) return [];
        const allowed = probes.filter(
          (probe) =>
            new RegExp(String(pattern)).test(probe) &&
            probe.length >= Number(minLength) &&
            (!Array.isArray(values) || values.includes(probe)),
        );
        return allowed.length > 0 ? [{ name, parameter, shape, allowed }] : [];
      },
    ),
  );

  it.each(everyText)('is accepted as $parameter of $name', ({ shape, allowed }) => {
    expect(allowed.filter((text) => !shape.safeParse(text).success)).toEqual([]);
  });

  it.each(['0000-01-01', '0000-12-28T00:00:00Z'])('is no instant before year 1, such as %s', (text) => {
    const rules = {
      filterable: { at: { type: 'timestamp' } },
      sortable: [],
      defaultSort: '',
      searchable: [],
    } as const;
    const filter = listParameters(rules).find(({ name }) => name === 'filter') as unknown as {
      schema: { properties: Record<string, { pattern: string }> };
    };
    expect(text).not.toMatch(new RegExp(filter.schema.properties['at.eq']!.pattern));
    expect('0001-01-01').toMatch(new RegExp(filter.schema.properties['at.eq']!.pattern));
  });
});
