import { MERMAID, workflowEndpoints } from '@plinth/contracts/workflow/endpoints';
import type { Api } from '@plinth/http/api';
import { compressQuickly } from '@plinth/http/compress-quickly';
import { created, file, noContent, ok, okJson } from '@plinth/http/response';
import type { Deps } from '../compose';
import type { SaveWorkflowDefinitionRequest } from '@plinth/contracts/workflow/shapes';
import type { z } from 'zod';
import { toDefinition } from '../domain/definition';
import { toMermaid } from '../domain/mermaid';
import { definitionNotFound } from '../domain/problems';
import { findRequestErrors, validateDefinition, type RequestOptions } from '../domain/validate-definition';
import { tagOf } from '../store/definition-store';
import { toDefinitionJson, toDefinitionResponse } from './definition-response';

const { getDefinitions, getDefinition, putDefinition, deleteDefinition } = workflowEndpoints;
const { validateDefinition: checkDefinition } = workflowEndpoints;

type Needs = Pick<Deps, 'definitions' | 'pageReads' | 'knownPermissions' | 'owners' | 'clock'>;

export function mountDefinitions(api: Api, deps: Needs): void {
  const { definitions, pageReads, knownPermissions, owners, clock } = deps;
  const optionsOf = (
    entityType: string,
    body: z.output<typeof SaveWorkflowDefinitionRequest>,
  ): RequestOptions => ({
    bodyEntityType: body.entityType,
    finalStatesGiven: body.finalStates != null,
    knownPermissions,
    hasOwner: owners.has(entityType),
  });

  // All of them are as large as a long page.
  api.on(getDefinitions, async ({ caller, signal }) => {
    const read = () => definitions.all(caller.tenantId);
    const found = await pageReads.run(caller, read, signal);
    const pieces = found.map((one, at) => `${at === 0 ? '' : ','}${toDefinitionJson(one)}`);
    return okJson(['[', ...pieces, ']'], { gzip: compressQuickly });
  });

  api.on(getDefinition, async ({ params: { entityType }, query, caller, request }) => {
    const found = await definitions.find(caller.tenantId, entityType, query.version);
    if (!found) throw definitionNotFound(entityType);
    const type = pictureType(query.format, request.headers.accept ?? '');
    if (type === undefined)
      return ok(toDefinitionResponse(found), { etag: tagOf(found), headers: { vary: 'Accept' } });
    const content = Buffer.from(toMermaid(found.definition));
    return file({ content, name: `${entityType}.mmd`, type });
  });

  api.on(putDefinition, async ({ params: { entityType }, body, caller, precondition }) => {
    const definition = toDefinition(entityType, body);
    const options = optionsOf(entityType, body);
    const { saved, isNew } = await definitions.save(caller, definition, {
      precondition,
      now: clock.now(),
      validate: () => validateDefinition(definition, options),
    });
    const etag = tagOf(saved);
    if (!isNew) return ok(toDefinitionResponse(saved), { etag });
    return created(toDefinitionResponse(saved), `/workflow/definitions/${encodeURIComponent(entityType)}`, {
      etag,
    });
  });

  api.on(checkDefinition, ({ params: { entityType }, body }) => {
    const definition = toDefinition(entityType, body);
    const errors = findRequestErrors(definition, optionsOf(entityType, body));
    return { isSound: errors.length === 0, errors };
  });

  api.on(deleteDefinition, async ({ params: { entityType }, caller, precondition }) => {
    const isWithdrawn = await definitions.withdraw(caller, entityType, { precondition, now: clock.now() });
    if (!isWithdrawn) throw definitionNotFound(entityType);
    return noContent();
  });
}

/** The media type of the picture, where the client wants one: `format` decides, then the first type of `Accept`. */
function pictureType(format: 'json' | 'mermaid' | undefined, accept: string): string | undefined {
  if (format === 'json') return undefined;
  const wanted = accept.split(',').map((part) => part.split(';')[0]!.trim().toLowerCase());
  const picture = wanted.find((type) => type === MERMAID || type === 'text/plain');
  if (format === 'mermaid') return picture ?? MERMAID;
  const acceptsJson = wanted.some((type) => ['application/json', 'application/*', '*/*', ''].includes(type));
  return acceptsJson ? undefined : picture;
}
