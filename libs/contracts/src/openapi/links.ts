import type { Json, JsonSchema, SchemaCollection } from './schemas';
import { JSON_TYPE } from './components';

type Paths = Record<string, Record<string, Json>>;

const parametersIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

/**
 * Adds to each POST the operations on what it creates, as links of its successful response: their paths continue its own
 * with one more parameter, whose value is the member of the body with the same name, or its `id`.
 */
export function addLinks(paths: Paths, schemas: SchemaCollection): void {
  for (const [path, { post }] of Object.entries(paths)) {
    const responses = post?.['responses'] as Record<string, Json> | undefined;
    const created = responses?.['201'] ?? responses?.['202'];
    if (!created) continue;
    const links = linksOf(path, membersOf(created, schemas), paths);
    if (Object.keys(links).length > 0) created['links'] = links;
  }
}

function linksOf(path: string, members: ReadonlySet<string>, paths: Paths): Record<string, Json> {
  const known = parametersIn(path);
  const links: Record<string, Json> = {};
  for (const [other, operations] of Object.entries(paths)) {
    const added = parametersIn(other).slice(known.length);
    if (added.length !== 1 || !other.startsWith(`${path}/{`)) continue;
    const parameter = added[0]!;
    const member = [parameter, 'id'].find((name) => members.has(name));
    if (member === undefined) continue;
    const parameters = {
      ...Object.fromEntries(known.map((name) => [name, `$request.path.${name}`])),
      [parameter]: `$response.body#/${member}`,
    };
    for (const { operationId } of Object.values(operations))
      links[String(operationId)] = { operationId, parameters };
  }
  return links;
}

function membersOf(response: Json, schemas: SchemaCollection): ReadonlySet<string> {
  const content = response['content'] as Record<string, { schema?: JsonSchema }> | undefined;
  const schema = content?.[JSON_TYPE]?.schema;
  return new Set(Object.keys((schema && schemas.resolve(schema)['properties']) ?? {}));
}
