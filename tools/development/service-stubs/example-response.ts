import type { Endpoint, Success } from '@plinth/contracts/endpoint';
import { exampleOf } from '@plinth/contracts/openapi/examples';
import { SchemaCollection } from '@plinth/contracts/openapi/schemas';
import { accepted, created, events, file, noContent, ok } from '@plinth/http/response';
import { unavailable } from '@plinth/kernel/problem';
import type { z } from 'zod';

const EXAMPLE_ID = '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55';

type Values = Record<string, unknown>;

/** Makes a function that responds as the contract of an endpoint allows, with the values of the request in it. */
export function exampleResponse(
  service: string,
  endpoint: Endpoint,
): (params: Values, more: Values) => unknown {
  const { success } = endpoint;
  if (success.events) return () => events(noEvents());
  if (success.file)
    return () =>
      file({
        content: Buffer.from('Example'),
        name: 'example',
        type: success.file![0] ?? 'application/octet-stream',
      });
  const example = success.body === undefined ? undefined : exampleBody(success.body);

  return (params, more) => {
    const body =
      success.body && firstAllowed(success.body, [withValues(example, { ...params, ...more }), example]);
    if (success.body && body === undefined)
      throw unavailable(
        `The stub of the service ${service} has no example of this response; start the service itself.`,
      );
    return responseOf(success, body, locationOf(endpoint, params));
  };
}

function responseOf({ status }: Success, body: unknown, location: string): unknown {
  switch (status) {
    case 201:
      return created(body, location);
    case 202:
      return accepted(body, location);
    case 204:
      return noContent();
    default:
      return ok(body);
  }
}

/** An example of the shape; a page is the last one of its list, so that a client that reads all pages comes to an end. */
function exampleBody(shape: z.ZodType): unknown {
  const collection = new SchemaCollection();
  const example = exampleOf(collection.of(shape), collection);
  if (typeof example !== 'object' || example === null || !('items' in example)) return example;
  return {
    ...example,
    ...('totalCount' in example ? { totalCount: (example.items as unknown[]).length } : {}),
    ...('hasMore' in example ? { hasMore: false } : {}),
    ...('nextCursor' in example ? { nextCursor: null } : {}),
  };
}

/** The first candidate that the contract allows. */
const firstAllowed = (shape: z.ZodType, candidates: readonly unknown[]): unknown =>
  candidates.find((candidate) => shape.safeParse(candidate).success);

function withValues(example: unknown, values: Values): unknown {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return example;
  const known = Object.entries(values).filter(([name, value]) => name in example && value !== undefined);
  return { ...example, ...Object.fromEntries(known) };
}

function locationOf({ path }: Endpoint, params: Values): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
  return `${filled}/${EXAMPLE_ID}`;
}

async function* noEvents() {}
