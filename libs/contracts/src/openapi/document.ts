/**
 * The OpenAPI document of the platform, made from the contracts.
 * It describes what the pipeline does, because both read the same declarations.
 */
import type { Endpoint } from '../endpoint';
import { platformEndpoints } from '../platform/endpoints';
import { platformProblems } from '../platform/problems';
import {
  generalProblemExamples,
  problemSchemas,
  sharedHeaders,
  sharedParameters,
  sharedResponses,
} from './components';
import { exampleProblem } from './examples';
import { addLinks } from './links';
import { exampleParams, operation, tagOf } from './operations';
import { healthPaths } from './health-paths';
import { SchemaCollection, type Json } from './schemas';
import type { OpenApiSettings } from './settings';

/** Describes every endpoint, parameter, header, response and problem. */
export function openApiDocument(settings: OpenApiSettings): Json {
  const schemas = new SchemaCollection();
  const paths: Record<string, Record<string, Json>> = {};
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
  addLinks(paths, schemas);
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
      examples: problemExamples(settings, schemas),
      schemas: sorted({ ...schemas.components, ...problemSchemas }),
    },
  };
}

/** Each problem as the first endpoint that names it responds with it. */
function problemExamples(
  { endpoints, problems, statusByKind, prefix }: OpenApiSettings,
  schemas: SchemaCollection,
): Json {
  const everyEndpoint = Object.values(endpoints).flatMap((one) => Object.values(one));
  const examples = Object.entries({ ...platformProblems, ...problems }).map(([slug, problem]) => {
    const endpoint = everyEndpoint.find((one) => one.problems?.includes(slug)) ?? everyEndpoint[0]!;
    const params = exampleParams(endpoint, schemas);
    const instance = prefix + endpoint.path.replace(/:(\w+)/g, (_, name: string) => String(params[name]));
    const { kind, title, explanation } = problem;
    const value = exampleProblem(statusByKind[kind], { slug, title, detail: explanation }, instance);
    return [slug, { summary: title, value }];
  });
  return { ...generalProblemExamples, ...Object.fromEntries(examples) };
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
