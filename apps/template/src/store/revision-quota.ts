import type { ImportQuota } from '@plinth/exchange/import/batch-importer';
import { jointQuota, unneededIfUnwritten } from '@plinth/exchange/import/joint-quota';
import { RowQuota } from '@plinth/http/row-quota';
import type { TemplateConfig } from '../config';
import type { SpareRevisions } from './spare-revisions';

/** How many revisions the templates of a tenant may have, and how much text in them. */
export interface RevisionQuota extends ImportQuota {
  /** @throws Problem `quota-exceeded` */
  take(tenantId: string, contents: readonly string[]): void;
  /** Gives back the room that was taken for revisions that turned out not to be added. */
  giveBackTaken(tenantId: string, contents: readonly string[]): void;
}

type Needs = Pick<ConstructorParameters<typeof RowQuota>[0], 'db' | 'log' | 'metrics'> & {
  removeSpareRevisions(tenantId: string, isEnough: (removed: SpareRevisions) => boolean): Promise<void>;
  config: Pick<TemplateConfig, 'TEMPLATE_TENANT_REVISIONS_MAX' | 'TEMPLATE_TENANT_CHARACTERS_MAX'>;
};

/** More than one batch brings. */
const CHARACTERS_OF_BATCHES = 2_000_000;

export function revisionQuota({ config, removeSpareRevisions, ...deps }: Needs): RevisionQuota {
  const table = 'template_revision';
  const revisions = new RowQuota({
    ...deps,
    table,
    quota: 'template-revisions',
    what: 'revisions of templates',
    limit: config.TEMPLATE_TENANT_REVISIONS_MAX,
    makeRoom: (tenantId, rows) => removeSpareRevisions(tenantId, (removed) => removed.revisions >= rows),
  });
  const characters = new RowQuota({
    ...deps,
    table,
    quota: 'template-characters',
    what: 'characters in revisions of templates',
    limit: config.TEMPLATE_TENANT_CHARACTERS_MAX,
    measure: 'sum(content_length)',
    // About as much as one request brings.
    uncountedMin: 1_000_000,
    makeRoom: (tenantId, characters) =>
      removeSpareRevisions(tenantId, (removed) => removed.characters >= characters),
  });
  const lengthOf = (contents: readonly string[]): number =>
    contents.reduce((sum, content) => sum + content.length, 0);

  return {
    take(tenantId, contents) {
      revisions.requireRoom(tenantId, contents.length);
      characters.take(tenantId, lengthOf(contents));
      revisions.take(tenantId, contents.length);
    },
    giveBackTaken(tenantId, contents) {
      revisions.giveBack(tenantId, contents.length);
      characters.giveBack(tenantId, lengthOf(contents));
    },
    forImport: (attempt) =>
      jointQuota(attempt, [
        { quota: revisions, unneededOf: unneededIfUnwritten },
        {
          quota: characters,
          unitsOfBatches: CHARACTERS_OF_BATCHES,
          unitsOf: ({ values }) => String(values['content']).length,
          unneededOf: unneededIfUnwritten,
        },
      ]),
  };
}
