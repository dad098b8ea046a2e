import type { z } from 'zod';
import { accessOf, type Access, type Endpoint } from '../endpoint';
import { JSON_TYPE } from './components';
import { parametersOf } from './parameters';
import { responsesOf } from './responses';
import { codeSamples } from './code-samples';
import { exampleOf } from './examples';
import type { Json, JsonSchema, SchemaCollection } from './schemas';
import type { OpenApiSettings } from './settings';

const titles: Record<string, string> = {
  settings: 'Settings',
  localization: 'Localization',
  template: 'Templates',
  timeline: 'Timeline',
  workflow: 'Workflow',
  'data-exchange': 'Data exchange',
};

/** The title under which the endpoints of a service are grouped. */
export const tagOf = (service: string): string =>
  titles[service] ?? service.charAt(0).toUpperCase() + service.slice(1).replaceAll('-', ' ');

/** The operation of one endpoint. */
export function operation(
  service: string,
  name: string,
  endpoint: Endpoint,
  settings: OpenApiSettings,
  schemas: SchemaCollection,
): Json {
  const { deprecated, access, description } = endpoint;
  const request = requestBodyOf(endpoint, schemas);
  return {
    operationId: name,
    tags: [tagOf(service)],
    summary: endpoint.summary,
    description: [
      description,
      accessNote(access),
      endpoint.atRoot === true && `Also at \`${settings.prefix}${endpoint.path}\`.`,
    ]
      .filter(Boolean)
      .join('\n\n'),
    ...(deprecated ? { deprecated: true } : {}),
    ...securityOf(access),
    parameters: parametersOf(endpoint, schemas),
    ...request,
    responses: responsesOf(endpoint, settings, schemas),
    'x-codeSamples':
      service === 'platform'
        ? undefined
        : codeSamples(service, name, endpoint, {
            params: exampleParams(endpoint, schemas),
            body: endpoint.body ? exampleOf(schemas.of(endpoint.body), schemas) : undefined,
          }),
  };
}

/** Values of the parameters in a path. */
export function exampleParams(
  { path, params }: Endpoint,
  schemas: SchemaCollection,
): Record<string, unknown> {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  return Object.fromEntries(
    names.map((name) => {
      const shape = params?.shape[name] as z.ZodType | undefined;
      return [name, shape ? exampleOf(schemas.of(shape), schemas, name) : 'text'];
    }),
  );
}

/** OpenAPI 3.1 has a list of roles that a credential must have; here it holds the permission. */
function securityOf(access: Access): Json {
  switch (access.type) {
    case 'anonymous':
      return { security: [] };
    case 'optional':
      return { security: [{}, { bearer: [] }] };
    case 'permission':
      return { security: [{ bearer: [access.permission] }] };
    default:
      return {};
  }
}

function accessNote(access: Access): string {
  switch (access.type) {
    case 'anonymous':
      return 'No credential is required.';
    case 'optional':
      return 'A credential is optional.';
    case 'authenticated':
      return 'For every signed-in user.';
    case 'permission':
      return `Requires the permission \`${access.permission}\`${access.hostOnly ? ' and a caller of the host tenant' : ''}.`;
    case 'by-parameter':
      return Object.keys(access.accessByValue)
        .map((value) => `- \`${value}\`: ${accessNote(accessOf(access, { [access.parameter]: value }))}`)
        .join('\n');
  }
}

function requestBodyOf({ body, upload, uploadFields }: Endpoint, schemas: SchemaCollection): Json {
  if (upload)
    return {
      requestBody: {
        required: true,
        content: { 'multipart/form-data': { schema: uploadSchema(uploadFields, schemas) } },
      },
    };
  if (!body) return {};
  const schema = schemas.of(body);
  const isRequired = !body.safeParse(undefined).success;
  return {
    requestBody: {
      required: isRequired,
      content: { [JSON_TYPE]: { schema, example: exampleOf(schema, schemas) } },
    },
  };
}

function uploadSchema(fields: z.ZodObject | undefined, schemas: SchemaCollection): JsonSchema {
  const text = fields ? schemas.resolve(schemas.of(fields)) : {};
  return {
    type: 'object',
    properties: {
      file: { type: 'string', contentMediaType: 'application/octet-stream', minLength: 1 },
      ...(text['properties'] as object),
    },
    required: ['file', ...((text['required'] as string[] | undefined) ?? [])],
  };
}
