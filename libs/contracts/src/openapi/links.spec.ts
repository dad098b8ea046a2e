import { z } from 'zod';
import { addLinks } from './links';
import { SchemaCollection } from './schemas';

const accepted = (members: Record<string, z.ZodType>, schemas: SchemaCollection) => ({
  post: {
    operationId: 'create',
    responses: { 201: { content: { 'application/json': { schema: schemas.of(z.object(members)) } } } },
  },
});
const read = (operationId: string) => ({ get: { operationId } });

describe('the links of a response', () => {
  const linksOf = (path: string, members: Record<string, z.ZodType>, others: Record<string, object>) => {
    const schemas = new SchemaCollection();
    const paths = { [path]: accepted(members, schemas), ...others };
    addLinks(paths as Parameters<typeof addLinks>[0], schemas);
    return (paths[path] as ReturnType<typeof accepted>).post.responses[201] as { links?: unknown };
  };

  it('lead to the operations on what was created, by its id', () => {
    const others = { '/jobs/{jobId}': read('getJob'), '/jobs/{jobId}/file': read('getFile') };
    const parameters = { jobId: '$response.body#/id' };
    expect(linksOf('/jobs', { id: z.string() }, others).links).toEqual({
      getJob: { operationId: 'getJob', parameters },
      getFile: { operationId: 'getFile', parameters },
    });
  });

  it('take the member that has the name of the parameter', () => {
    const { links } = linksOf(
      '/templates',
      { id: z.string(), name: z.string() },
      { '/templates/{name}': read('getTemplate') },
    );
    expect(links).toMatchObject({ getTemplate: { parameters: { name: '$response.body#/name' } } });
  });

  it('repeat the parameters of the request', () => {
    const { links } = linksOf(
      '/{type}/{entity}/entries',
      { id: z.string() },
      { '/{type}/{entity}/entries/{id}': read('getEntry') },
    );
    expect(links).toMatchObject({
      getEntry: {
        parameters: {
          type: '$request.path.type',
          entity: '$request.path.entity',
          id: '$response.body#/id',
        },
      },
    });
  });

  it('do not lead where the response does not name all that the path needs', () => {
    const others = { '/jobs/{jobId}/rows/{row}': read('getRow'), '/others/{id}': read('getOther') };
    expect(linksOf('/jobs', { id: z.string() }, others).links).toBeUndefined();
    expect(
      linksOf('/jobs', { count: z.number() }, { '/jobs/{jobId}': read('getJob') }).links,
    ).toBeUndefined();
  });
});
