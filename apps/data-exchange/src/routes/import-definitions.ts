import type { Api } from '@plinth/http/api';
import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import { holds } from '@plinth/kernel/caller';
import type { Deps } from '../compose';
import { importableFields } from '../domain/definition';
import { toFieldMetadata } from './import-preview-response';

const { listImportDefinitions } = dataExchangeEndpoints;

export function mountImportDefinitions(api: Api, { owners }: Pick<Deps, 'owners'>): void {
  api.on(listImportDefinitions, async ({ caller }) => {
    const definitions = await owners.list();
    return definitions
      .filter(({ importable, permission }) => importable && holds(caller, permission))
      .map((definition) => ({
        name: definition.name,
        entityType: definition.entityType,
        isUndoable: definition.undoable,
        fields: importableFields(definition).map(toFieldMetadata),
      }));
  });
}
