import { allEndpoints } from '@plinth/contracts/all';
import type { Endpoint } from '@plinth/contracts/endpoint';
import { z } from 'zod';

const introduction = `# The largest thing that one request can ask for

<!-- Made by \`npm run openapi\` from the contracts and from libs/proto. -->

For each endpoint and each gRPC method: what the largest valid request makes a process hold or do. The limits themselves,
and what happens beyond them, are in [limits.md](limits.md). Everywhere hold those of every request: a JSON body of 1 MiB,
30 s until the response begins, 15 s for a statement in Postgres, and the fair shares of the memory for bodies and
responses of a process. *Unbounded by the contract* means: as many as the tenant has; such a response counts against
\`BUFFERED_RESPONSE_BYTES_MAX\`.
`;

/** The text of `docs/limits-of-each-call.md`, before it is formatted. @param protos the texts of the gRPC interfaces by name */
export function limitsPage(protos: Record<string, string>): string {
  const services = Object.entries(allEndpoints).map(([service, endpoints]) => {
    const rows = Object.values<Endpoint>(endpoints).map(
      (endpoint) =>
        `| \`${endpoint.method} ${endpoint.path}\` | ${takes(endpoint)} | ${returns(endpoint)} | ${timeOf(endpoint)} |`,
    );
    return `## ${service}\n\n| Endpoint | Takes at most | Returns at most | Time |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
  });
  const methods = Object.entries(protos).flatMap(([name, text]) =>
    methodsOf(text).map((method) => row(name, method)),
  );
  return `${introduction}
${services.join('\n')}
## Calls between services

A message to a service has at most 4 MiB and one from it 32 MiB, which gRPC enforces; a call without streams ends after 10 s.
What lasts is a stream, whose next message is sent when the last one was taken. A statement of such a stream ends as [limits.md](limits.md) says.

| Method | Takes at most | Returns at most | From |
| --- | --- | --- | --- |
${methods.join('\n')}

## Consumers of events

A consumer holds 200 messages that it has fetched, works on 16 of one subject in a transaction and on 128 at the same time, and
acknowledges what it has stored. A message has at most 1 MiB, which NATS enforces; by the contracts an event holds ids and short
texts, never the content of an entity.
`;
}

const takes = ({ upload, body }: Endpoint): string => {
  if (upload) return 'a file, streamed into the store';
  if (!body) return 'no body';
  const lists = arraysOf(z.toJSONSchema(body, { unrepresentable: 'any', io: 'input' }) as Schema);
  return `JSON of 1 MiB${lists.length > 0 ? `: ${lists.join(', ')}` : ''}`;
};

const returns = ({ success, alternatives = [], list }: Endpoint): string => {
  const all = [success, ...alternatives];
  if (all.some(({ events }) => events)) return 'a stream of events, until the credential expires';
  if (list) return 'a page of 100';
  const { body } = all.find((one) => one.body) ?? {};
  const lists = body
    ? arraysOf(z.toJSONSchema(body, { unrepresentable: 'any', io: 'output' }) as Schema)
    : [];
  const json = body ? `JSON${lists.length > 0 ? `: ${lists.join(', ')}` : ''}` : undefined;
  const file = all.some((one) => one.file) ? 'a file' : undefined;
  return [json, file].filter(Boolean).join(', or ') || 'no body';
};

const timeOf = ({ rateLimitClass }: Endpoint): string => (rateLimitClass === 'expensive' ? '300 s' : '30 s');

interface Schema {
  type?: string;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  $ref?: string;
  $defs?: Record<string, Schema>;
}

/** Every array of a shape, with its largest number of items. */
function arraysOf(root: Schema): string[] {
  const seen = new Set<string>();
  const resolve = (schema: Schema): Schema => {
    const id = schema.$ref?.split('/').at(-1);
    if (id === undefined) return schema;
    if (seen.has(id)) return {};
    seen.add(id);
    return root.$defs?.[id] ?? {};
  };
  return arraysIn(root, 'the body', resolve);
}

function arraysIn(reference: Schema, name: string, resolve: (schema: Schema) => Schema): string[] {
  const schema = resolve(reference);
  const inner = [
    ...(schema.items ? arraysIn(schema.items, name, resolve) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, value]) =>
      arraysIn(value, `\`${key}\``, resolve),
    ),
    ...(schema.anyOf ?? []).flatMap((one) => arraysIn(one, name, resolve)),
  ];
  const own =
    schema.type === 'array'
      ? [`${name} ${schema.maxItems ? `≤ ${schema.maxItems}` : 'unbounded by the contract'}`]
      : [];
  return [...new Set([...own, ...inner])];
}

interface Method {
  service: string;
  name: string;
  takesStream: boolean;
  returnsStream: boolean;
}

function methodsOf(text: string): Method[] {
  return [...text.matchAll(/^service (\w+) \{([\s\S]*?)^\}/gm)].flatMap(([, service, body]) =>
    [...body!.matchAll(/rpc (\w+) ?\((stream )?\w+\) returns \((stream )?\w+\)/g)].map(
      ([, name, takesStream, returnsStream]) => ({
        service: service!,
        name: name!,
        takesStream: takesStream !== undefined,
        returnsStream: returnsStream !== undefined,
      }),
    ),
  );
}

const row = (file: string, { service, name, takesStream, returnsStream }: Method): string =>
  `| \`${service}.${name}\` | ${sizeOf(takesStream, 4)} | ${sizeOf(returnsStream, 32)} | [${file}](../libs/proto/${file}) |`;

const sizeOf = (isStream: boolean, mebibytes: number): string =>
  isStream ? 'a stream of messages' : `one message of ${mebibytes} MiB`;
