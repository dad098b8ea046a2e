/**
 * The OpenAPI document of the platform, made from the contracts.
 * It describes what the pipeline does, because both read the same declarations.
 */
import type { Endpoint } from '../endpoint';
import { platformEndpoints } from '../platform/endpoints';
import { problemSchemas, sharedHeaders, sharedParameters, sharedResponses } from './components';
import { operation, tagOf } from './operations';
import { healthPaths } from './health-paths';
import { SchemaCollection, type Json } from './schemas';
import type { OpenApiSettings } from './settings';

/** Describes every endpoint, parameter, header, response and problem. */
export function openApiDocument(settings: OpenApiSettings): Json {
  const schemas = new SchemaCollection();
  const paths: Record<string, Json> = {};
  for (const [service, endpoints] of Object.entries(settings.endpoints)) {
    for (const [name, endpoint] of Object.entries(endpoints)) {
      const path = pathOf(endpoint, settings.prefix);
      (paths[path] ??= {})[endpoint.method.toLowerCase()] = operation(
        service,
        name,
        endpoint,
        settings,
        schemas,
      );
    }
  }
  const gatewayPaths = Object.fromEntries(
    Object.entries(platformEndpoints).map(([name, endpoint]) => [
      pathOf(endpoint, ''),
      { [endpoint.method.toLowerCase()]: operation('platform', name, endpoint, settings, schemas) },
    ]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plinth',
      version: INTERFACE_VERSION,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This installation' }],
    tags: [...Object.keys(settings.endpoints), 'platform'].map((service) => ({ name: tagOf(service) })),
    security: [{ bearer: [] }],
    paths: { ...sorted(paths), ...gatewayPaths, ...healthPaths() },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A token of a trusted issuer.',
        },
      },
      parameters: sharedParameters,
      headers: sharedHeaders,
      responses: sharedResponses,
      schemas: sorted({ ...schemas.components, ...problemSchemas }),
    },
  };
}

const INTERFACE_VERSION = '1.0';
const DESCRIPTION = `Templates, localization, data exchange, timeline, settings and workflow behind one address.

- Errors are \`application/problem+json\`; the member \`type\` is the address of a page about the problem.
- The version is the segment \`/v1\`; without it the query parameter \`api-version\` decides, then the default.
- Writes accept \`Idempotency-Key\`: a repeated request gets the stored response and is not executed again.
- Lists take \`page\` and \`pageSize\`, or a \`cursor\` where the list supports it.`;

const pathOf = ({ path, atRoot }: Endpoint, prefix: string): string =>
  (atRoot === true ? '' : prefix) + path.replace(/:(\w+)/g, '{$1}');

const sorted = <Value>(record: Record<string, Value>): Record<string, Value> =>
  Object.fromEntries(Object.entries(record).sort(([left], [right]) => (left < right ? -1 : 1)));
