import { JSON_TYPE } from './components';
import { tagOf } from './operations';
import type { Json, JsonSchema } from './schemas';

/** What tells whether the gateway and its parts are there; their errors carry the same members. */
export function healthPaths(): Json {
  const page = (operationId: string, summary: string, schema: JsonSchema): Json => ({
    get: {
      operationId,
      tags: [tagOf('platform')],
      summary,
      security: [],
      responses: {
        200: { description: 'Yes.', content: { [JSON_TYPE]: { schema } } },
        default: { $ref: '#/components/responses/Problem' },
      },
    },
  });
  const states = {
    type: 'object',
    additionalProperties: { type: 'string', enum: ['up', 'down', 'draining'] },
  };
  return {
    '/healthz': page('getHealth', 'Whether the gateway is running', {
      type: 'object',
      properties: { alive: { type: 'boolean' } },
      required: ['alive'],
    }),
    '/readyz': page('getReadiness', 'Whether every part of the platform is available', {
      type: 'object',
      properties: { ready: { type: 'boolean' }, parts: states },
      required: ['ready', 'parts'],
    }),
  };
}
