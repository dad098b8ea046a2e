import {
  deleteDefinition,
  getDefinition,
  getDefinitions,
  MERMAID,
  putDefinition,
} from '@plinth/contracts/workflow/endpoints';
import { workflowProblems } from '@plinth/contracts/workflow/problems';
import type { Api } from '@plinth/conventions/api';
import { created, file, noContent, ok } from '@plinth/conventions/reply';
import type { Deps } from '../compose';
import { toDefinition } from '../domain/definition';
import { toMermaid } from '../domain/mermaid';
import { requireSound } from '../domain/soundness';
import type { StoredDefinition } from '../store/definition-rows';
import { tagOf } from '../store/definition-store';

type Needed = Pick<Deps, 'definitions' | 'knownPermissions' | 'owners' | 'clock'>;

export function mountDefinitions(api: Api, { definitions, knownPermissions, owners, clock }: Needed): void {
  api.on(getDefinitions, async ({ caller }) => (await definitions.all(caller.tenantId)).map(toShape));

  api.on(getDefinition, async ({ params: { entityType }, query, caller, request }) => {
    const found = await definitions.find(caller.tenantId, entityType, query.version);
    if (!found) throw unknownType(entityType);
    const type = pictureType(query.format, request.headers.accept ?? '');
    if (type === undefined) return ok(toShape(found), { etag: tagOf(found), headers: { vary: 'Accept' } });
    const content = Buffer.from(toMermaid(found.definition));
    return file({ content, name: `${entityType}.mmd`, type });
  });

  api.on(putDefinition, async ({ params: { entityType }, body, caller, ifMatch }) => {
    const definition = toDefinition(entityType, body);
    const options = {
      bodyEntityType: body.entityType,
      finalStatesGiven: body.finalStates != null,
      knownPermissions,
      hasOwner: owners.has(entityType),
    };
    const { saved, isNew } = await definitions.save(caller, definition, {
      ifMatch,
      now: clock.now(),
      requireSound: () => requireSound(definition, options),
    });
    const etag = tagOf(saved);
    if (!isNew) return ok(toShape(saved), { etag });
    return created(toShape(saved), `/workflow/definitions/${encodeURIComponent(entityType)}`, { etag });
  });

  api.on(deleteDefinition, async ({ params: { entityType }, caller, ifMatch }) => {
    const wasThere = await definitions.withdraw(caller, entityType, { ifMatch, now: clock.now() });
    if (!wasThere) throw unknownType(entityType);
    return noContent();
  });
}

const unknownType = (entityType: string) =>
  workflowProblems['entity-type-unknown'](`There is no such definition for the entity type "${entityType}".`);

const toShape = ({ definition, version, scope, savedAt, savedBy }: StoredDefinition) => ({
  entityType: definition.entityType,
  version,
  scope,
  initialState: definition.initialState,
  states: [...definition.states],
  finalStates: [...definition.finalStates],
  transitions: definition.transitions.map((transition) => ({ ...transition })),
  savedAt,
  savedBy,
});

/** The media type of the picture, where a picture is asked for: `format` decides, then the first type of `Accept`. */
function pictureType(format: 'json' | 'mermaid' | undefined, accept: string): string | undefined {
  if (format === 'json') return undefined;
  const wanted = accept.split(',').map((part) => part.split(';')[0]!.trim().toLowerCase());
  const picture = wanted.find((type) => type === MERMAID || type === 'text/plain');
  if (format === 'mermaid') return picture ?? MERMAID;
  const takesJson = wanted.some((type) => ['application/json', 'application/*', '*/*', ''].includes(type));
  return takesJson ? undefined : picture;
}
